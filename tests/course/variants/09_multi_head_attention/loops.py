# Loops over batch, heads and tokens.
import torch
from torch import nn


def split_heads(x, num_heads):
    batch_size, num_tokens, d_out = x.shape
    head_dim = d_out // num_heads
    result = x.new_zeros(batch_size, num_heads, num_tokens, head_dim)
    for head in range(num_heads):
        for feature in range(head_dim):
            result[:, head, :, feature] = x[:, :, head * head_dim + feature]
    return result


def head_scores(queries, keys):
    b, h, n, _ = queries.shape
    scores = torch.zeros((b, h, n, n), dtype=queries.dtype)
    for i in range(b):
        for j in range(h):
            for query in range(n):
                for key in range(n):
                    scores[i, j, query, key] = torch.dot(queries[i, j, query], keys[i, j, key])
    return scores


def merge_heads(x):
    tokens = []
    for text in x:
        tokens.append(torch.stack([torch.cat(list(token)) for token in text.unbind(1)]))
    return torch.stack(tokens)


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

    def forward(self, x):
        texts = [self.text(text) for text in x]
        return self.out_proj(torch.stack(texts))

    def text(self, tokens):
        parts = (self.W_query(tokens), self.W_key(tokens), self.W_value(tokens))
        q, k, v = (part.chunk(self.num_heads, dim=-1) for part in parts)
        rows = []
        for t in range(len(tokens)):
            row = []
            for h in range(self.num_heads):
                scores = k[h][: t + 1].mv(q[h][t]) / q[h].shape[-1] ** 0.5
                row.append(self.dropout(scores.softmax(0)) @ v[h][: t + 1])
            rows.append(torch.cat(row))
        return torch.stack(rows)
