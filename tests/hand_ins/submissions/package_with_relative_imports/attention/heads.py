import torch
from torch import nn

from .masks import causal


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal(context_length))

    def forward(self, x):
        n = x.shape[-2]
        scores = self.W_query(x) @ self.W_key(x).transpose(-1, -2)
        scores = scores / scores.new_tensor(float(self.W_key.out_features)) ** 0.5
        scores = torch.where(self.mask[:n, :n], torch.full_like(scores, -torch.inf), scores)
        return self.dropout(scores.softmax(dim=-1)) @ self.W_value(x)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        args = (d_in, d_out, context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList([CausalAttention(*args) for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)
