import torch
from torch import nn
from torch.nn.functional import softmax


def head_scores(queries, keys):
    return torch.matmul(queries, keys.swapaxes(-1, -2))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        head_dim, rest = divmod(d_out, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads cannot share {d_out} features")
        self.split = (num_heads, head_dim)
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length, dtype=bool).triu(1))

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (f(x).unflatten(-1, self.split).swapaxes(1, 2) for f in (self.W_query, self.W_key, self.W_value))
        s = head_scores(q, k).masked_fill(self.mask[:n, :n], -torch.inf)
        w = self.dropout(softmax(s / self.split[1] ** 0.5, dim=-1))
        return self.out_proj((w @ v).swapaxes(1, 2).flatten(-2))
