# The same with an additive mask that is kept as a float buffer.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), -torch.inf).triu(1))

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2).flatten(0, 1)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.heads(self.W_query(x)), self.heads(self.W_key(x)), self.heads(self.W_value(x))
        scores = torch.baddbmm(self.mask[:n, :n], q, k.transpose(1, 2), alpha=q.shape[-1] ** -0.5)
        context = torch.bmm(self.dropout(torch.softmax(scores, dim=-1)), v)
        context = context.unflatten(0, (b, -1)).transpose(1, 2).flatten(2)
        return self.out_proj(context)
