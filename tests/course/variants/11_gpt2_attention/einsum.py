# einsum, a uint8 mask that does not persist, a set of parameters for the count.
import collections

import torch
from torch import einsum, nn

GPT2_CONFIG = collections.OrderedDict(
    [("dropout", 0.1), ("num_heads", 12), ("context_length", 1024), ("d_out", 768), ("d_in", 768)]
)

SHARED_LAYER = nn.Linear(4, 4)
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER)


def count_parameters(module):
    seen = set()
    for part in module.modules():
        seen |= set(part.parameters(recurse=False))
    return sum(map(torch.numel, seen))


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        self.d_head, rest = divmod(d_out, num_heads)
        if rest:
            raise ValueError(rest)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        mask = torch.ones(context_length, context_length, dtype=torch.uint8).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        n = x.shape[-2]
        q = self.W_query(x).unflatten(-1, (-1, self.d_head)) * self.d_head**-0.5
        k = self.W_key(x).unflatten(-1, (-1, self.d_head))
        v = self.W_value(x).unflatten(-1, (-1, self.d_head))
        scores = einsum("bqhd,bkhd->bhqk", q, k)
        scores = scores - 1e9 * self.mask[:n, :n]
        weights = self.dropout(torch.exp(scores - scores.logsumexp(-1, keepdim=True)))
        return self.out_proj(einsum("bhqk,bkhd->bqhd", weights, v).flatten(-2))
