# Causal attention as a subclass of plain attention that overrides how scores become weights.
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def weights(self, scores):
        return scores.softmax(dim=-1)

    def forward(self, x):
        keys = self.W_key(x)
        scores = self.W_query(x) @ keys.mT / keys.shape[-1] ** 0.5
        return self.weights(scores) @ self.W_value(x)


class CausalAttention(SelfAttention):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length, dtype=int).tril())

    def weights(self, scores):
        n = scores.shape[-1]
        scores = scores.masked_fill(self.mask[:n, :n].logical_not(), torch.finfo(scores.dtype).min)
        return self.dropout(super().weights(scores))
