# A named tuple of weights, filled in place; scaling by a power and by numpy's root.
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
from torch import Tensor


class Weights(NamedTuple):
    query: nn.Parameter
    key: nn.Parameter
    value: nn.Parameter


def init_weights(d_in: int, d_out: int) -> Weights:
    filled = (nn.init.uniform_(torch.empty(d_in, d_out)) for _ in Weights._fields)
    return Weights(*(nn.Parameter(each, requires_grad=False) for each in filled))


def init_weights_normal(d_in: int, d_out: int) -> Weights:
    return Weights(*(nn.Parameter(torch.empty(d_in, d_out).normal_()) for _ in range(3)))


def project(x: Tensor, weight: Tensor) -> Tensor:
    return torch.tensordot(x, weight, dims=1)


def query_scores(query: Tensor, keys: Tensor) -> Tensor:
    return torch.tensordot(query, keys, dims=([-1], [-1]))


def scaled_weights(scores: Tensor, d_k: int) -> Tensor:
    return (scores / np.sqrt(d_k)).softmax(-1)


def weighted_values(weights: Tensor, values: Tensor) -> Tensor:
    return torch.tensordot(weights, values, dims=1)
