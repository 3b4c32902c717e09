import torch
from my_masks import triangle


def lower_triangular_mask(context_length):
    return triangle(context_length, "lower")


def mask_weights(weights, mask):
    return weights.mul(mask)


def renormalize_rows(weights):
    return torch.nn.functional.normalize(weights, p=1, dim=-1)


def upper_triangular_mask(context_length):
    return triangle(context_length, "upper")


def mask_scores(scores, mask):
    out = scores.clone()
    out[mask.bool()] = -torch.inf
    return out
