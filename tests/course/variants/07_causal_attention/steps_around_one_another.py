# The first step around the self-attention for one text, the last around the ready-made function.
import torch
from torch import nn


class One(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        queries, keys = self.W_query(x), self.W_key(x)
        weights = torch.softmax(queries @ keys.T / keys.shape[-1] ** 0.5, dim=-1)
        return weights @ self.W_value(x)


class BatchAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.attention = One(d_in, d_out, qkv_bias)

    def forward(self, x):
        return torch.stack([self.attention(text) for text in x])


class MaskedAttention(BatchAttention):
    def __init__(self, d_in, d_out, context_length, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril() == 0)
        self.rate = 0.0

    def forward(self, x):
        one, n = self.attention, x.shape[1]
        scores = one.W_query(x) @ one.W_key(x).mT
        scores = scores / one.W_query.out_features**0.5 + torch.zeros_like(
            scores
        ).masked_fill(self.mask[:n, :n], -torch.inf)
        weights = nn.functional.dropout(scores.softmax(-1), self.rate, self.training)
        return weights @ one.W_value(x)


class CausalAttention(MaskedAttention):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, qkv_bias)
        self.rate = dropout
