import torch
from beartype import beartype
from jaxtyping import Bool, Float, jaxtyped
from torch import Tensor


def dropout_scale(p: float) -> float:
    return 1 / (1 - p)


def apply_dropout_mask(
    weights: Float[Tensor, "n n"], keep_mask: Bool[Tensor, "n n"], p: float
) -> Float[Tensor, "n n"]:
    return weights * keep_mask.to(weights.dtype) * dropout_scale(p)


@jaxtyped(typechecker=beartype)
def dropout(weights: Float[Tensor, "..."], p: float, training: bool) -> Float[Tensor, "..."]:
    if not training:
        return weights
    return apply_dropout_mask(weights, torch.rand_like(weights) >= p, p)
