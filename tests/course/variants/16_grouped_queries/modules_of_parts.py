# Key-value heads in a module of their own, heads as a batch, and baddbmm.
import torch
from torch import nn


def repeat_kv(x, num_heads):
    size = num_heads // x.shape[1]
    return torch.cat([one.expand(-1, size, -1, -1) for one in x.split(1, dim=1)], dim=1)


class KeysAndValues(nn.Module):
    def __init__(self, d_in, num_kv_heads, head_dim, bias):
        super().__init__()
        self.W_key = nn.Linear(d_in, num_kv_heads * head_dim, bias=bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * head_dim, bias=bias)
        self.num_kv_heads = num_kv_heads

    def forward(self, x):
        return tuple(
            layer(x).unflatten(-1, (self.num_kv_heads, -1)).movedim(2, 1)
            for layer in (self.W_key, self.W_value)
        )


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        if d_out % num_heads or num_heads % num_kv_heads:
            raise ValueError("these sizes do not fit")
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.kv = KeysAndValues(d_in, num_kv_heads, self.head_dim, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        hidden = torch.full((context_length, context_length), -torch.inf).triu(1)
        self.register_buffer("mask", hidden)

    def keys_and_values(self, x):
        return self.kv(x)

    def forward(self, x):
        b, t, _ = x.shape
        if t > len(self.mask):
            raise ValueError("the text is too long")
        queries = self.W_query(x).unflatten(-1, (self.num_heads, -1)).movedim(2, 1).flatten(0, 1)
        keys, values = (repeat_kv(one, self.num_heads).flatten(0, 1) for one in self.kv(x))
        hidden = self.mask[:t, :t].to(queries.dtype)
        scores = torch.baddbmm(hidden, queries, keys.mT, alpha=self.head_dim**-0.5)
        mixed = torch.bmm(self.dropout(scores.softmax(-1)), values)
        return self.out_proj(mixed.unflatten(0, (b, -1)).movedim(1, 2).flatten(2))


def mha_to_gqa(state, num_heads, num_kv_heads):
    found = {}
    for name, tensor in state.items():
        if name.partition(".")[0] in {"W_key", "W_value"}:
            kv = tensor.view(num_kv_heads, -1, len(tensor) // num_heads, *tensor.shape[1:])
            tensor = torch.concatenate(list(kv.mean(axis=1)))
        found[name] = tensor
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    as_many_as_heads = 2 * num_layers * features * num_tokens * bytes_per_number
    return as_many_as_heads // (num_heads // num_kv_heads)
