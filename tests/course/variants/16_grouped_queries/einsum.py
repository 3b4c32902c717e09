# Every product is an einsum, and the queries have an axis of groups: nothing is repeated.
import torch
from torch import nn


def repeat_kv(x, num_heads):
    ones = torch.ones(num_heads // x.shape[1], dtype=x.dtype)
    return torch.einsum("bktd,g->bkgtd", x, ones).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        if d_out % num_heads or num_heads % num_kv_heads:
            raise ValueError("these sizes do not fit")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def keys_and_values(self, x):
        found = []
        for layer in (self.W_key, self.W_value):
            weight = layer.weight.view(self.num_kv_heads, self.head_dim, -1)
            heads = torch.einsum("bti,kdi->bktd", x, weight)
            if layer.bias is not None:
                heads = heads + layer.bias.view(self.num_kv_heads, 1, self.head_dim)
            found.append(heads)
        return tuple(found)

    def forward(self, x):
        b, t, _ = x.shape
        if t > len(self.mask):
            raise ValueError("the text is too long")
        queries = self.W_query(x).view(b, t, self.num_kv_heads, -1, self.head_dim)
        keys, values = self.keys_and_values(x)
        scores = torch.einsum("bqkgd,bktd->bkgqt", queries, keys) / self.head_dim**0.5
        weights = scores.masked_fill(self.mask[:t, :t], -torch.inf).softmax(dim=-1)
        context = torch.einsum("bkgqt,bktd->bqkgd", self.dropout(weights), values)
        return self.out_proj(context.reshape(b, t, -1))


def mha_to_gqa(state, num_heads, num_kv_heads):
    found = {name: tensor.clone() for name, tensor in state.items()}
    size = num_heads // num_kv_heads
    mix = torch.eye(num_kv_heads).repeat_interleave(size, dim=1) / size
    for name in found:
        if name.split(".")[0] in ("W_key", "W_value"):
            heads = found[name].unflatten(0, (num_heads, -1))
            found[name] = torch.einsum("kh,h...->k...", mix, heads).flatten(0, 1)
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    of_a_token = 2 * (features * num_kv_heads // num_heads)
    return of_a_token * num_tokens * num_layers * bytes_per_number
