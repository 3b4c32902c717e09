# One base class that knows attention; each version says only how it projects.
from __future__ import annotations

import abc
import math
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn


class Attention(nn.Module, abc.ABC):
    """What all versions share."""

    @abc.abstractmethod
    def project(self, x: Tensor, name: str) -> Tensor:
        """Queries, keys or values."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (self.project(x, name) for name in ("W_query", "W_key", "W_value"))
        return self.weights(q, k) @ v

    @staticmethod
    def weights(q: Tensor, k: Tensor) -> Tensor:
        return (q @ k.mT / math.sqrt(k.size(-1))).softmax(dim=-1)


class MatrixAttention(Attention):
    draw: ClassVar[Callable[..., Tensor]]

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            self.register_parameter(name, nn.Parameter(type(self).draw(d_in, d_out)))

    def project(self, x: Tensor, name: str) -> Tensor:
        return x @ getattr(self, name)


class SelfAttention_v1(MatrixAttention):
    draw = torch.rand


class SelfAttentionNormal(MatrixAttention):
    draw = torch.randn


class SelfAttention_v2(Attention):
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            self.add_module(name, nn.Linear(d_in, d_out, bias=qkv_bias))

    def project(self, x: Tensor, name: str) -> Tensor:
        return self.get_submodule(name)(x)


def copy_weights(source: SelfAttention_v2, target: SelfAttention_v1) -> None:
    target.load_state_dict(
        {name.removesuffix(".weight"): weight.T for name, weight in source.state_dict().items()}
    )
