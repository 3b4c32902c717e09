import torch
from torch import nn, einsum
from einops import rearrange


def split_heads(x, num_heads):
    return rearrange(x, "b n (h d) -> b h n d", h=num_heads)


def head_scores(queries, keys):
    return einsum("b h i d, b h j d -> b h i j", queries, keys)


def merge_heads(x):
    return x.transpose(1, 2).flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (split_heads(t, self.heads) for t in (self.W_query(x), self.W_key(x), self.W_value(x)))
        sim = head_scores(q, k) * q.shape[-1] ** -0.5
        attn = self.dropout(sim.masked_fill(self.mask[:n, :n], -torch.inf).softmax(dim=-1))
        return self.out_proj(rearrange(attn @ v, "b h n d -> b n (h d)"))
