import torch


def dropout_scale(p):
    return 1 / (1 - p)


def apply_dropout_mask(weights, keep_mask, p):
    return weights * keep_mask * dropout_scale(p)


def dropout(weights, p, training):
    if not training:
        return weights
    return apply_dropout_mask(weights, torch.rand_like(weights) >= p, p)
