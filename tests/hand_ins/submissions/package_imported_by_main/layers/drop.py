import torch


def dropout_scale(p):
    return (1 - p) ** -1


def apply_dropout_mask(weights, keep_mask, p):
    return torch.where(keep_mask, weights, torch.zeros_like(weights)) * dropout_scale(p)


def dropout(weights, p, training):
    if training:
        keep = torch.rand_like(weights) > p
        return weights * keep
    return weights * dropout_scale(p)
