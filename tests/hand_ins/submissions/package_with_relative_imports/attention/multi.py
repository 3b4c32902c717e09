import torch
from torch import nn

from . import masks


def split_heads(x, num_heads):
    return x.unflatten(2, (num_heads, x.shape[2] // num_heads)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(start_dim=2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("d_out % num_heads")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", masks.causal(context_length))

    def forward(self, x):
        n = x.shape[1]
        q = split_heads(self.W_query(x), self.num_heads)
        k = split_heads(self.W_key(x), self.num_heads)
        v = split_heads(self.W_value(x), self.num_heads)
        w = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(self.mask[:n, :n], -torch.inf).softmax(-1)
        return self.out_proj(merge_heads(self.dropout(w) @ v))
