# The softmax by exponentials, key by key of a group; no mask is needed.
import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from torch import nn


def repeat_kv(x, num_heads):
    index = torch.tensor([head * x.shape[1] // num_heads for head in range(num_heads)])
    return x.index_select(1, index)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, d_in, d_out, context_length, dropout, num_heads, num_kv_heads, qkv_bias=False
    ):
        super().__init__()
        if d_out % num_heads or num_heads % num_kv_heads:
            raise ValueError("these sizes do not fit")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        kv = d_out // num_heads * num_kv_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, kv, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, kv, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def keys_and_values(self, x):
        return (
            split_heads(self.W_key(x), self.num_kv_heads),
            split_heads(self.W_value(x), self.num_kv_heads),
        )

    def forward(self, x):
        if x.shape[1] > len(self.mask):
            raise ValueError("the text is too long")
        queries = split_heads(self.W_query(x), self.num_heads)
        keys, values = (repeat_kv(one, self.num_heads) for one in self.keys_and_values(x))
        found = []
        for token in range(x.shape[1]):
            seen = slice(0, token + 1)
            scores = (keys[:, :, seen] * queries[:, :, token, None]).sum(-1)
            scores = scores / queries.shape[-1] ** 0.5
            powers = torch.exp(scores - scores.amax(-1, keepdim=True))
            weights = self.dropout(powers / powers.sum(-1, keepdim=True))
            found.append((weights[..., None] * values[:, :, seen]).sum(2))
        return self.out_proj(merge_heads(torch.stack(found, dim=2)))


def mha_to_gqa(state, num_heads, num_kv_heads):
    found = {}
    for name, tensor in state.items():
        if name in ("W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias"):
            size, head_dim = num_heads // num_kv_heads, len(tensor) // num_heads
            rows = torch.arange(len(tensor)).reshape(num_kv_heads, size, head_dim)
            tensor = torch.stack([tensor[rows[:, h].flatten()] for h in range(size)]).mean(0)
        found[name] = tensor
    return found


def kv_cache_bytes(num_layers, num_heads, num_kv_heads, features, num_tokens, bytes_per_number=2):
    kept = torch.tensor([2, num_layers, num_kv_heads, features // num_heads, num_tokens])
    return int(kept.prod()) * bytes_per_number
