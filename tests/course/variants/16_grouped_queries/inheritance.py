# The layer of assignment 09, with two of its parts replaced.
import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    return x.repeat_interleave(num_heads // x.shape[1], dim=1)


class GroupedQueryAttention(MultiHeadAttention):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__(d_in, d_out, context_length, dropout, num_heads, qkv_bias)
        if num_heads % num_kv_heads:
            raise ValueError("the heads cannot share the key-value heads evenly")
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_out // num_heads
        kv = num_kv_heads * self.head_dim
        self.W_key = nn.Linear(d_in, kv, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, kv, bias=qkv_bias)

    def keys_and_values(self, x):
        return (
            split_heads(self.W_key(x), self.num_kv_heads),
            split_heads(self.W_value(x), self.num_kv_heads),
        )

    def forward(self, x):
        t = x.shape[1]
        if t > len(self.mask):
            raise ValueError("the text is too long")
        queries = split_heads(self.W_query(x), self.num_heads)
        keys, values = self.keys_and_values(x)
        scores = queries @ repeat_kv(keys, self.num_heads).transpose(2, 3)
        scores = scores.masked_fill(self.mask[:t, :t].bool(), -torch.inf)
        weights = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
        return self.out_proj(merge_heads(weights @ repeat_kv(values, self.num_heads)))


def mha_to_gqa(state, num_heads, num_kv_heads):
    found = type(state)(state)
    for name, tensor in state.items():
        if name.startswith(("W_key.", "W_value.")):
            groups = torch.chunk(tensor, num_kv_heads)
            size = num_heads // num_kv_heads
            found[name] = torch.cat([sum(group.chunk(size)) / size for group in groups])
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    head_dim = features // num_heads
    one = num_kv_heads * num_tokens * head_dim * bytes_per_number
    return num_layers * (one + one)
