# A loop over heads: each takes its slice of the features, and the slices are joined by cat.
import torch
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def head_scores(queries, keys):
    scores = []
    for q, k in zip(queries.unbind(1), keys.unbind(1)):
        scores.append(torch.bmm(q, k.transpose(1, 2)))
    return torch.stack(scores, dim=1)


def merge_heads(x):
    return torch.cat([x[:, head] for head in range(x.size(1))], dim=2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.head_dim, rest = divmod(d_out, num_heads)
        assert rest == 0
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().byte())

    def one_head(self, q, k, v):
        n = q.shape[1]
        scores = q @ k.transpose(1, 2) / self.head_dim**0.5
        scores[:, self.mask[:n, :n] == 0] = float("-inf")
        return self.dropout(torch.softmax(scores, dim=2)) @ v

    def forward(self, x):
        parts = (layer(x).split(self.head_dim, dim=-1) for layer in (self.W_query, self.W_key, self.W_value))
        return self.out_proj(torch.cat([self.one_head(*head) for head in zip(*parts)], dim=-1))
