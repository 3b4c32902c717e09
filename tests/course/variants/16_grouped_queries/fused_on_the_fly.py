# One product for queries, keys and values, with the weights side by side.
import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    return torch.stack([x] * (num_heads // x.shape[1]), dim=2).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        assert d_out % num_heads == 0 == num_heads % num_kv_heads
        self.heads = (num_heads, num_kv_heads, num_kv_heads)
        self.head_dim = d_out // num_heads
        self.W_query, self.W_key, self.W_value = (
            nn.Linear(d_in, heads * self.head_dim, bias=qkv_bias) for heads in self.heads
        )
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1) > 0)

    def project(self, x):
        layers = (self.W_query, self.W_key, self.W_value)
        found = x @ torch.cat([layer.weight for layer in layers]).T
        if layers[0].bias is not None:
            found = found + torch.cat([layer.bias for layer in layers])
        pieces = found.split([heads * self.head_dim for heads in self.heads], dim=-1)
        return [split_heads(*pair) for pair in zip(pieces, self.heads)]

    def keys_and_values(self, x):
        _, keys, values = self.project(x)
        return keys, values

    def forward(self, x):
        t = x.shape[1]
        if t > self.mask.shape[0]:
            raise ValueError("the text is too long")
        queries, keys, values = self.project(x)
        keys, values = (repeat_kv(one, self.heads[0]) for one in (keys, values))
        scores = (queries * self.head_dim**-0.5) @ keys.transpose(-2, -1)
        weights = scores.masked_fill(self.mask[:t, :t], float("-inf")).softmax(-1)
        return self.out_proj(merge_heads(self.dropout(weights) @ values))


def mha_to_gqa(state, num_heads, num_kv_heads):
    size = num_heads // num_kv_heads
    found = dict(state)
    for kind in ("weight", "bias"):
        for layer in ("W_key", "W_value"):
            if f"{layer}.{kind}" not in state:
                continue
            heads = state[f"{layer}.{kind}"].tensor_split(num_heads)
            means = [sum(heads[start : start + size]) / size for start in range(0, num_heads, size)]
            found[f"{layer}.{kind}"] = torch.cat(means)
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    keys = num_tokens * num_kv_heads * (features // num_heads)
    return sum(bytes_per_number * (keys + keys) for _ in range(num_layers))
