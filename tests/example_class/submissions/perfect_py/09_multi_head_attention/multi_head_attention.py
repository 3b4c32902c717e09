import torch
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def head_scores(queries, keys):
    return torch.einsum("bhqd,bhkd->bhqk", queries, keys)


def merge_heads(x):
    return torch.cat(list(x.unbind(dim=1)), dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"d_out is {d_out}, which is no multiple of {num_heads}")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x):
        n = x.shape[1]
        if n > len(self.mask):
            raise ValueError(f"{n} tokens are too many, {len(self.mask)} is the most")
        layers = (self.W_query, self.W_key, self.W_value)
        q, k, v = (split_heads(layer(x), self.num_heads) for layer in layers)
        scores = head_scores(q, k) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.mask[:n, :n], float("-inf"))
        weights = self.dropout(scores.softmax(dim=-1))
        return self.out_proj(merge_heads(weights @ v))
