# Torch's ready-made attention, which repeats the key-value heads by itself.
import torch
import torch.nn.functional as F
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    heads = torch.arange(num_heads) // (num_heads // x.shape[1])
    return x[:, heads]


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        if d_out % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("these sizes do not fit")
        self.context_length = context_length
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1))

    def keys_and_values(self, x):
        keys, values = self.W_key(x), self.W_value(x)
        return split_heads(keys, self.num_kv_heads), split_heads(values, self.num_kv_heads)

    def forward(self, x):
        if x.shape[1] > self.context_length:
            raise ValueError("the text is too long")
        mixed = F.scaled_dot_product_attention(
            split_heads(self.W_query(x), self.num_heads),
            *self.keys_and_values(x),
            dropout_p=self.dropout.p if self.training else 0.0,
            is_causal=True,
            enable_gqa=True,
        )
        return self.out_proj(merge_heads(mixed))


def mha_to_gqa(state, num_heads, num_kv_heads):
    def grouped(tensor):
        rows = tensor.reshape(num_kv_heads, num_heads // num_kv_heads, -1)
        return rows.mean(1).reshape(-1, *tensor.shape[1:])

    of_kv = {"W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias"} & set(state)
    return {**state, **{name: grouped(state[name]) for name in of_kv}}


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    shape = (num_layers, 2, num_kv_heads, num_tokens, features // num_heads)
    return torch.empty(shape, device="meta").numel() * bytes_per_number
