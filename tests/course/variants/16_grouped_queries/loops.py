# Head by head, each with the rows of the weights that are its own.
import torch
from torch import nn


def repeat_kv(x, num_heads):
    found = []
    for head in range(num_heads):
        found.append(x[:, head * x.shape[1] // num_heads])
    return torch.stack(found, dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        assert d_out % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def piece(self, x, head):
        return x[:, :, head * self.head_dim : (head + 1) * self.head_dim]

    def keys_and_values(self, x):
        keys, values = self.W_key(x), self.W_value(x)
        heads = range(self.num_kv_heads)
        return (
            torch.stack([self.piece(keys, head) for head in heads], dim=1),
            torch.stack([self.piece(values, head) for head in heads], dim=1),
        )

    def forward(self, x):
        t = x.shape[1]
        if t > len(self.mask):
            raise ValueError("the text is too long")
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        group_size = self.num_heads // self.num_kv_heads
        found = []
        for head in range(self.num_heads):
            query = self.piece(queries, head)
            key, value = (self.piece(one, head // group_size) for one in (keys, values))
            scores = query @ key.transpose(1, 2)
            scores = scores.masked_fill(self.mask[:t, :t], -torch.inf)
            weights = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
            found.append(weights @ value)
        return self.out_proj(torch.cat(found, dim=-1))


def mha_to_gqa(state, num_heads, num_kv_heads):
    size = num_heads // num_kv_heads
    found = {}
    for name, tensor in state.items():
        found[name] = tensor
        if not name.startswith(("W_key", "W_value")):
            continue
        head_dim = len(tensor) // num_heads
        rows = []
        for group in range(num_kv_heads):
            for feature in range(head_dim):
                of_group = [
                    tensor[(group * size + head) * head_dim + feature] for head in range(size)
                ]
                rows.append(torch.stack(of_group).mean(dim=0))
        found[name] = torch.stack(rows)
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    head_dim = features // num_heads
    total = 0
    for _layer in range(num_layers):
        for _kept in ("keys", "values"):
            total += num_kv_heads * head_dim * num_tokens * bytes_per_number
    return total
