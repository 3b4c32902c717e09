# Products that repeat themselves over an axis of size 1, in place of copies.
import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    group = torch.zeros(1, 1, num_heads // x.shape[1], 1, 1, dtype=x.dtype)
    return (x.unsqueeze(2) + group).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        head_dim, left = divmod(d_out, num_heads)
        self.group_size, over = divmod(num_heads, num_kv_heads)
        if left or over:
            raise ValueError("these sizes do not fit")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.scale = head_dim**-0.5
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        seen = torch.ones(context_length, context_length, dtype=torch.bool).tril()
        self.register_buffer("mask", seen)

    def keys_and_values(self, x):
        return [split_heads(layer(x), self.num_kv_heads) for layer in (self.W_key, self.W_value)]

    def forward(self, x):
        t = x.shape[1]
        if t > self.mask.shape[0]:
            raise ValueError("the text is too long")
        queries = split_heads(self.W_query(x), self.num_heads)
        queries = queries.unflatten(1, (self.num_kv_heads, self.group_size))
        keys, values = (one.unsqueeze(2) for one in self.keys_and_values(x))
        scores = self.scale * queries @ keys.transpose(-2, -1)
        scores = torch.where(self.mask[:t, :t], scores, -torch.inf)
        mixed = self.dropout(scores.softmax(dim=-1)) @ values
        return self.out_proj(merge_heads(mixed.flatten(1, 2)))


def mha_to_gqa(state, num_heads, num_kv_heads):
    found = state.copy()
    for name in list(found):
        if "key" in name or "value" in name:
            heads = found[name].unflatten(0, (num_heads, -1)).unflatten(0, (num_kv_heads, -1))
            found[name] = heads.sum(dim=1).div(heads.shape[1]).flatten(0, 1)
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    per_head = features // num_heads * bytes_per_number
    return 2 * per_head * num_kv_heads * num_layers * num_tokens
