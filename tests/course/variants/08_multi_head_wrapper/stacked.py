# Stacks what the heads answer, and brings the axis of the heads before the features.
from __future__ import annotations

import functools

import causal_attention as attention
import torch
from torch import Tensor, nn


class MultiHeadAttentionWrapper(nn.Module):
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
        make = functools.partial(
            attention.CausalAttention,
            d_in=d_in,
            d_out=d_out,
            context_length=context_length,
            dropout=dropout,
            qkv_bias=qkv_bias,
        )
        self.heads: nn.ModuleList = nn.ModuleList(make() for _ in range(num_heads))

    def forward(self, x: Tensor) -> Tensor:
        found = torch.stack([head(x) for head in self.heads])
        return found.movedim(0, -2).flatten(start_dim=-2)
