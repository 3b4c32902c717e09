# einsum for splitting, scoring, mixing and merging.
import math

import torch
from torch import Tensor, einsum, nn


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Each head picks its features by a matrix of zeros and ones."""
    d_out = x.shape[-1]
    pick = torch.eye(d_out, dtype=x.dtype).reshape(d_out, num_heads, -1)
    return einsum("btf,fhd->bhtd", x, pick)


def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    return einsum("bhqd,bhkd->bhqk", queries, keys)


def merge_heads(x: Tensor) -> Tensor:
    _, heads, _, head_dim = x.shape
    put = torch.eye(heads * head_dim, dtype=x.dtype).reshape(heads, head_dim, -1)
    return einsum("bhtd,hdf->btf", x, put)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out must be a multiple of num_heads")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), -1e9).triu(1))

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(2, (self.num_heads, -1))
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        scores = einsum("bqhd,bkhd->bhqk", q / math.sqrt(q.shape[-1]), k)
        scores += self.mask[: x.shape[1], : x.shape[1]]
        mixed = einsum("bhqk,bkhd->bqhd", self.dropout(scores.softmax(-1)), v)
        return self.out_proj(mixed.flatten(2))
