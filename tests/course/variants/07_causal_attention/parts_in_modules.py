# The projections live in a module of their own, so that their names have something in front.
import torch
from torch import nn


class Projections(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        return self.W_query(x), self.W_key(x), self.W_value(x)


class CausalMask(nn.Module):
    def __init__(self, context_length):
        super().__init__()
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, scores):
        n = scores.shape[-1]
        return scores.masked_fill(self.mask[:n, :n], -torch.inf)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.projections = Projections(d_in, d_out, qkv_bias)
        self.causal = CausalMask(context_length)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.projections(x)
        weights = torch.softmax(self.causal(q @ k.mT / q.shape[-1] ** 0.5), dim=-1)
        return self.dropout(weights) @ v
