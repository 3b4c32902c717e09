# Masks from numpy's generator.
import numpy as np
import torch

rng = np.random.default_rng(1)


def dropout_scale(p):
    return np.reciprocal(1.0 - p)


def apply_dropout_mask(weights, keep_mask, p):
    return torch.einsum("...,...->...", weights, keep_mask.type_as(weights)).div(1 - p)


def dropout(weights, p, training):
    if not training or p == 0:
        return weights
    keep_mask = torch.from_numpy(rng.random(tuple(weights.shape)) >= p)
    return apply_dropout_mask(weights, keep_mask, p)
