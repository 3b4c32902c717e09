# Each step inherits from the one before, and overrides how scores become weights.
import torch
from torch import nn


class BatchAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def weigh(self, scores):
        return scores.softmax(dim=-1)

    def forward(self, x):
        keys = self.W_key(x)
        scores = self.W_query(x) @ keys.mT / keys.shape[-1] ** 0.5
        return self.weigh(scores) @ self.W_value(x)


class MaskedAttention(BatchAttention):
    def __init__(self, d_in, d_out, context_length, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def weigh(self, scores):
        n = scores.shape[-1]
        return super().weigh(scores.masked_fill(self.mask[:n, :n], -torch.inf))


class CausalAttention(MaskedAttention):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def weigh(self, scores):
        return self.dropout(super().weigh(scores))
