# Heads become part of the batch: bmm and baddbmm on three axes.
import torch
from torch import nn


def split_heads(x, num_heads):
    b, n, d = x.shape
    return x.reshape(b * n, num_heads, d // num_heads).reshape(b, n, num_heads, -1).permute(0, 2, 1, 3)


def head_scores(queries, keys):
    b, h, n, _ = queries.shape
    flat = torch.bmm(queries.flatten(0, 1), keys.flatten(0, 1).transpose(1, 2))
    return flat.reshape(b, h, n, n)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (split_heads(w(x), self.num_heads).flatten(0, 1) for w in (self.W_query, self.W_key, self.W_value))
        future = torch.full((n, n), -torch.inf, dtype=q.dtype, device=q.device).triu(1)
        scores = torch.baddbmm(future, q, k.mT, beta=1, alpha=self.head_dim**-0.5)
        context = torch.bmm(self.dropout(scores.softmax(-1)), v)
        return self.out_proj(merge_heads(context.unflatten(0, (-1, self.num_heads))))
