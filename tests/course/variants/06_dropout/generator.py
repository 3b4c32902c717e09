# A generator of its own, which no seed of others reaches; masks by rand_like and a comparison.
import torch

GENERATOR = torch.Generator()
GENERATOR.manual_seed(2024)


def dropout_scale(p):
    return 1 / (1 - p)


def apply_dropout_mask(weights, keep_mask, p):
    kept = torch.zeros_like(weights)
    kept[keep_mask] = weights[keep_mask] * dropout_scale(p)
    return kept


def dropout(weights, p, training):
    drop = torch.rand(weights.shape, generator=GENERATOR) < p
    return apply_dropout_mask(weights, ~drop, p) if training else weights.clone()
