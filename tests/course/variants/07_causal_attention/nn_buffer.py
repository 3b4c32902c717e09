# torch.nn.Buffer for the mask, a dataclass for the sizes, where instead of fill.
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn as nn


@dataclass(frozen=True, slots=True)
class Config:
    d_in: int
    d_out: int
    context_length: int
    dropout: float = 0.0
    qkv_bias: bool = False

    def linear(self) -> nn.Linear:
        return nn.Linear(self.d_in, self.d_out, bias=self.qkv_bias)


class CausalAttention(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.config = config = Config(*args, **kwargs)
        self.W_query = config.linear()
        self.W_key = config.linear()
        self.W_value = config.linear()
        self.dropout = nn.Dropout(config.dropout)
        steps = torch.arange(config.context_length)
        self.mask = nn.Buffer(steps[:, None] < steps[None, :])

    def forward(self, x):
        *_, tokens, _ = x.shape
        if (most := self.config.context_length) < tokens:
            raise ValueError(f"{tokens} > {most}")
        scores = self.W_query(x).matmul(self.W_key(x).mT) * self.config.d_out**-0.5
        scores = torch.where(self.mask[:tokens, :tokens], -torch.inf, scores)
        return self.dropout(scores.softmax(-1)).matmul(self.W_value(x))
