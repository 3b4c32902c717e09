import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (w(x).view(b, n, self.num_heads, -1).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = (q @ k.mT).masked_fill(self.mask[:n, :n], -torch.inf) / k.shape[-1] ** 0.5
        return (self.dropout(s.softmax(-1)) @ v).transpose(1, 2).reshape(b, n, -1)
