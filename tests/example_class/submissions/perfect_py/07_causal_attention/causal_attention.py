import torch
from torch import nn


def stack_batch(inputs, copies):
    return inputs.expand(copies, *inputs.shape).clone()


class BatchAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def scores(self, x):
        q, k = self.W_query(x), self.W_key(x)
        return torch.einsum("bqd,bkd->bqk", q, k) * k.shape[2] ** -0.5

    def forward(self, x):
        return torch.bmm(self.scores(x).softmax(dim=2), self.W_value(x))


class MaskedAttention(BatchAttention):
    def __init__(self, d_in, d_out, context_length, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        future = torch.full((context_length, context_length), float("-inf")).triu(1)
        self.register_buffer("mask", future)

    def scores(self, x):
        n = x.shape[1]
        return super().scores(x) + self.mask[:n, :n]


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        # added to the scores: 0 for the past, -inf for the future
        future = torch.full((context_length, context_length), float("-inf")).triu(1)
        self.register_buffer("mask", future)

    def forward(self, x):
        n = x.shape[1]
        if n > len(self.mask):
            raise ValueError(f"{n} tokens are too many, {len(self.mask)} is the most")
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("bqd,bkd->bqk", q, k) * k.shape[2] ** -0.5
        weights = (scores + self.mask[:n, :n]).softmax(dim=2)
        return torch.bmm(self.dropout(weights), v)
