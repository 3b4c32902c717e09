from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn as nn


@dataclass
class AttentionConfig:
    d_in: int = 768
    d_out: int = 768
    context_length: int = 1024
    num_heads: int = 12
    dropout: float = 0.1


GPT2_CONFIG = asdict(AttentionConfig())


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, f"{d_out=} {num_heads=}"
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length, dtype=torch.bool), 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, _ = x.shape
        q, k, v = (
            layer(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / self.head_dim**0.5
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        out = torch.einsum("bhqk,bhkd->bqhd", self.dropout(scores.softmax(-1)), v)
        return self.out_proj(out.reshape(B, T, -1))


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(
            d_in, d_out, context_length, dropout=dropout, num_heads=num_heads, qkv_bias=qkv_bias
        )

    def forward(self, x):
        return self.attention(x)


def count_parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


if __name__ == "__main__":
    print(f"{count_parameters(GPT2MultiHeadAttention(**GPT2_CONFIG)):,}")
