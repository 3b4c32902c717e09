# Draws with torch.bernoulli; a tensor for the factor.
import torch


def dropout_scale(p):
    return torch.tensor(1.0) / (1 - p)


def apply_dropout_mask(weights, keep_mask, p):
    return keep_mask.to(weights.dtype) * weights * dropout_scale(p)


def dropout(weights, p, training):
    if training:
        kept = torch.bernoulli(torch.full_like(weights, 1 - p))
        return apply_dropout_mask(weights, kept, p)
    else:
        return weights
