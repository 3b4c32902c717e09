import math

import torch


def lower_triangular_mask(context_length):
    steps = torch.arange(context_length)
    return (steps[:, None] >= steps).float()


def mask_weights(weights, mask):
    return torch.where(mask.bool(), weights, torch.zeros_like(weights))


def renormalize_rows(weights):
    return weights / weights.sum(dim=-1, keepdim=True)


def upper_triangular_mask(context_length):
    return ~lower_triangular_mask(context_length).bool()


def mask_scores(scores, mask):
    return scores.masked_fill(mask.bool(), -math.inf)


def causal_weights(scores, d_k):
    hidden = upper_triangular_mask(scores.shape[-1])
    return torch.softmax(mask_scores(scores / math.sqrt(d_k), hidden), dim=-1)
