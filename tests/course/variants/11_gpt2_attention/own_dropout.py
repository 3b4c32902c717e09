# A dropout layer written by hand, which draws from a generator of its own.
import numpy as np
import torch
from torch import nn

GENERATOR = np.random.default_rng(7)


class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, weights):
        if not self.training or self.p == 0:
            return weights
        kept = torch.from_numpy(GENERATOR.random(tuple(weights.shape)) >= self.p)
        return torch.where(kept, weights / (1 - self.p), 0.0)


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (
            layer(x).view(b, n, self.num_heads, -1).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        scores = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(self.mask[:n, :n], -torch.inf)
        weights = self.dropout(scores.softmax(dim=-1))
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, n, -1))
