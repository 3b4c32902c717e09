# The same inner layer under two names: a pipeline, and a handle on one of its parts.
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, dropout, qkv_bias):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        layers = (self.W_query, self.W_key, self.W_value)
        q, k, v = (layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for layer in layers)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = self.dropout(scores.masked_fill(future, -torch.inf).softmax(-1))
        return (weights @ v).transpose(1, 2).flatten(2)


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        self.context_length = context_length
        self.attention = Attention(d_in, d_out, num_heads, dropout, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.pipeline = nn.Sequential(self.attention, self.out_proj)

    def forward(self, x):
        if x.shape[1] > self.context_length:
            raise ValueError("too long")
        return self.pipeline(x)
