# A loop over heads with a module for the mixing; its arguments come by name only.
from types import MappingProxyType

import torch
from torch import nn

GPT2_CONFIG = {**{"d_in": 768, "d_out": 768}, "context_length": 1024, "num_heads": 12} | {"dropout": 0.1}
SIZES = MappingProxyType(GPT2_CONFIG)


def count_parameters(module):
    return sum(p.flatten().shape[0] for _, p in module.named_parameters())


class Mix(nn.Module):
    def __init__(self, *, context_length, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, q, k, v):
        n = q.shape[1]
        weights = torch.softmax(q @ k.transpose(1, 2) / q.shape[2] ** 0.5, dim=-1)
        weights = weights * self.mask[:n, :n]
        return self.dropout(weights / weights.sum(dim=-1, keepdim=True)) @ v


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=SIZES["dropout"], qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.mix = Mix(context_length=context_length, dropout=dropout)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q, k, v = (w(x).split(self.head_dim, -1) for w in (self.W_query, self.W_key, self.W_value))
        return self.out_proj(torch.cat([self.mix(*head) for head in zip(q, k, v)], dim=-1))
