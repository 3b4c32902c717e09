# The ready-made attention, on four axes, with is_causal; nothing is kept as a mask.
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)


def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    return queries.matmul(keys.mT)


def merge_heads(x: Tensor) -> Tensor:
    return x.movedim(1, 2).flatten(start_dim=2)


class MultiHeadAttention(nn.Module):
    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        if d_out % num_heads:
            raise ValueError("no")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        context = F.scaled_dot_product_attention(
            *(split_heads(w(x), self.num_heads) for w in (self.W_query, self.W_key, self.W_value)),
            is_causal=True,
            dropout_p=self.dropout.p if self.dropout.training else 0.0,
        )
        return self.out_proj(merge_heads(context))
