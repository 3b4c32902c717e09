# One class of static methods, a decorator around each exercise, and a main block.
from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor


def traced(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @functools.wraps(function)
    def wrapper(*args: Tensor, **kwargs: Tensor) -> Tensor:
        print(f"-> {function.__name__}({', '.join(str(tuple(a.shape)) for a in args)})")
        result = function(*args, **kwargs)
        print(f"<- {result!r}")
        return result

    return wrapper


class Ops:
    axis: int = -1

    @staticmethod
    def dot(a: Tensor, b: Tensor) -> Tensor:
        return torch.inner(a, b)

    @classmethod
    def shares(cls, x: Tensor) -> Tensor:
        return x / x.sum(dim=cls.axis, keepdim=True)


dot_product = traced(Ops.dot)
normalize_scores = traced(Ops.shares)


@traced
def attention_scores(query: Tensor, inputs: Tensor) -> Tensor:
    return torch.inner(inputs, query)


@traced
def softmax_naive(x: Tensor) -> Tensor:
    return Ops.shares(torch.exp(x))


@traced
def softmax_stable(x: Tensor) -> Tensor:
    return Ops.shares(torch.exp(x - torch.amax(x, dim=Ops.axis, keepdim=True)))


@traced
def context_vector(weights: Tensor, inputs: Tensor) -> Tensor:
    return torch.tensordot(weights, inputs, dims=1)


def main() -> None:
    x = torch.tensor([0.9544, 1.4950, 1.4754])
    print(softmax_stable(x))


if __name__ == "__main__":
    main()
