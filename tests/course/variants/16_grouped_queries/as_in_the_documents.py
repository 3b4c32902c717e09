# Expanded and reshaped, as open models write it; views of five axes.
import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    b, num_kv_heads, num_tokens, head_dim = x.shape
    n_rep = num_heads // num_kv_heads
    if n_rep == 1:
        return x
    x = x[:, :, None, :, :].expand(b, num_kv_heads, n_rep, num_tokens, head_dim)
    return x.reshape(b, num_kv_heads * n_rep, num_tokens, head_dim)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        assert num_heads % num_kv_heads == 0, "num_heads must be divisible by num_kv_heads"
        self.d_out = d_out
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer(
            "mask", torch.triu(torch.ones(context_length, context_length), diagonal=1)
        )

    def keys_and_values(self, x):
        b, num_tokens, _ = x.shape
        keys = self.W_key(x).view(b, num_tokens, self.num_kv_heads, self.head_dim)
        values = self.W_value(x).view(b, num_tokens, self.num_kv_heads, self.head_dim)
        return keys.transpose(1, 2), values.transpose(1, 2)

    def forward(self, x):
        b, num_tokens, _ = x.shape
        if num_tokens > len(self.mask):
            raise ValueError("the text is too long")
        queries = self.W_query(x).view(b, num_tokens, self.num_heads, self.head_dim)
        queries = queries.transpose(1, 2)
        keys, values = self.keys_and_values(x)
        keys, values = repeat_kv(keys, self.num_heads), repeat_kv(values, self.num_heads)
        attn_scores = queries @ keys.transpose(2, 3)
        mask_bool = self.mask.bool()[:num_tokens, :num_tokens]
        attn_scores.masked_fill_(mask_bool, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vec = (attn_weights @ values).transpose(1, 2)
        context_vec = context_vec.contiguous().view(b, num_tokens, self.d_out)
        return self.out_proj(context_vec)


def mha_to_gqa(state, num_heads, num_kv_heads):
    new_state = {}
    for name, tensor in state.items():
        if "W_key" in name or "W_value" in name:
            head_dim = tensor.shape[0] // num_heads
            shape = (num_kv_heads, num_heads // num_kv_heads, head_dim) + tensor.shape[1:]
            tensor = tensor.reshape(shape).mean(dim=1)
            tensor = tensor.reshape((num_kv_heads * head_dim,) + tensor.shape[2:])
        new_state[name] = tensor
    return new_state


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * (features // num_heads) * num_tokens * bytes_per_number
