# Modules that are dataclasses: the sizes are fields, the parameters come after.
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(eq=False)
class SelfAttention_v1(nn.Module):
    d_in: int
    d_out: int

    def __post_init__(self) -> None:
        super().__init__()
        self.W_query = nn.Parameter(self.start())
        self.W_key = nn.Parameter(self.start())
        self.W_value = nn.Parameter(self.start())

    def start(self) -> Tensor:
        return torch.rand(self.d_in, self.d_out)

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        return torch.softmax(scores / self.d_out**0.5, dim=-1) @ (x @ self.W_value)


@dataclass(eq=False)
class SelfAttentionNormal(SelfAttention_v1):
    def start(self) -> Tensor:
        return torch.randn(self.d_in, self.d_out)


@dataclass(eq=False)
class SelfAttention_v2(nn.Module):
    d_in: int
    d_out: int
    qkv_bias: bool = False

    def __post_init__(self) -> None:
        super().__init__()
        self.W_query = self.layer()
        self.W_key = self.layer()
        self.W_value = self.layer()

    def layer(self) -> nn.Linear:
        return nn.Linear(in_features=self.d_in, out_features=self.d_out, bias=self.qkv_bias)

    def forward(self, x: Tensor) -> Tensor:
        weights = self.W_query(x) @ self.W_key(x).T
        return (weights / self.d_out**0.5).softmax(dim=-1) @ self.W_value(x)


def copy_weights(source: SelfAttention_v2, target: SelfAttention_v1) -> None:
    for field in ("query", "key", "value"):
        layer = source.get_parameter(f"W_{field}.weight")
        setattr(target, f"W_{field}", nn.Parameter(layer.detach().T.contiguous()))
