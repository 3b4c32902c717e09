# Functions of torch throughout.
import math

import torch
import torch.nn.functional as F
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    return torch.repeat_interleave(x, torch.tensor(num_heads // x.size(1)), dim=-3)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        for whole, parts in ((d_out, num_heads), (num_heads, num_kv_heads)):
            if whole % parts:
                raise ValueError(f"{whole} is not a multiple of {parts}")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.p = dropout
        kv = d_out // num_heads * num_kv_heads
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, kv, qkv_bias)
        self.W_value = nn.Linear(d_in, kv, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer(
            "mask", torch.full((context_length, context_length), -torch.inf).triu(1)
        )

    def keys_and_values(self, x):
        return tuple(
            split_heads(F.linear(x, layer.weight, layer.bias), self.num_kv_heads)
            for layer in (self.W_key, self.W_value)
        )

    def forward(self, x):
        t = x.size(1)
        if t > self.mask.size(0):
            raise ValueError("the text is too long")
        q = split_heads(F.linear(x, self.W_query.weight, self.W_query.bias), self.num_heads)
        k, v = (repeat_kv(one, self.num_heads) for one in self.keys_and_values(x))
        scores = torch.matmul(q, k.mT) / math.sqrt(q.size(-1)) + self.mask[:t, :t].to(q.dtype)
        weights = F.dropout(F.softmax(scores, dim=-1), self.p, self.training)
        merged = merge_heads(torch.matmul(weights, v))
        return F.linear(merged, self.out_proj.weight, self.out_proj.bias)


def mha_to_gqa(state, num_heads, num_kv_heads):
    def mean_of_groups(tensor):
        heads = torch.stack(tensor.chunk(num_heads))
        groups = heads.chunk(num_kv_heads)
        return torch.cat([group.mean(dim=0) for group in groups])

    return {
        name: mean_of_groups(tensor) if name[:5] in ("W_key", "W_val") else tensor
        for name, tensor in state.items()
    }


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    shape = (num_layers, 2, num_kv_heads, num_tokens, features // num_heads)
    return math.prod(shape) * bytes_per_number
