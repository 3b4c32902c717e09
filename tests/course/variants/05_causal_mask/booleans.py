# Masks of truth values, made by comparing positions; where instead of fill.
import math

import torch
from torch import Tensor


def positions(n: int) -> tuple[Tensor, Tensor]:
    steps = torch.arange(n)
    return steps[:, None], steps[None, :]


def lower_triangular_mask(context_length: int) -> Tensor:
    query, key = positions(context_length)
    return key <= query


def mask_weights(weights: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.bool(), weights, 0.0)


def renormalize_rows(weights: Tensor) -> Tensor:
    return torch.nn.functional.normalize(weights, p=1, dim=-1)


def upper_triangular_mask(context_length: int) -> Tensor:
    return ~lower_triangular_mask(context_length)


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.bool(), -math.inf, scores)


def causal_weights(scores: Tensor, d_k: int) -> Tensor:
    masked = mask_scores(scores, upper_triangular_mask(len(scores)))
    return masked.div(math.sqrt(d_k)).softmax(dim=1)
