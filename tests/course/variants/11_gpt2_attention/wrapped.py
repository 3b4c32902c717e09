# An own layer inside another: all names have something in front.
from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn


@dataclass
class Config:
    d_in: int = 768
    d_out: int = 12 * 64
    context_length: int = 2**10
    num_heads: int = 12
    dropout: float = 0.1


GPT2_CONFIG = asdict(Config())

SHARED_LAYER = nn.Linear(4, 4)
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER)


def count_parameters(module: nn.Module) -> int:
    return sum(math.prod(p.shape) for p in module.parameters() if p.requires_grad)


class Attention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"{num_heads} heads do not share {d_out} features")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        q, k, v = (
            torch.stack(w(x).chunk(self.num_heads, -1), 1)
            for w in (self.W_query, self.W_key, self.W_value)
        )
        scores = q @ k.mT / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(~self.mask[:n, :n], -math.inf)
        mixed = self.dropout(scores.softmax(-1)) @ v
        return self.out_proj(torch.cat(mixed.unbind(1), dim=-1))


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        self.attention = Attention(
            d_in=d_in,
            d_out=d_out,
            context_length=context_length,
            dropout=dropout,
            num_heads=num_heads,
            qkv_bias=qkv_bias,
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x)
