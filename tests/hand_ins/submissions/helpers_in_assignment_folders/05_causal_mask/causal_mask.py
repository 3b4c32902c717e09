import torch
from utils import tri


def lower_triangular_mask(context_length):
    return tri(context_length, lower=True).float()


def mask_weights(weights, mask):
    return weights * mask


def renormalize_rows(weights):
    sums = weights.sum(dim=1)
    return weights / sums.unsqueeze(1)


def upper_triangular_mask(context_length):
    return tri(context_length, lower=False)


def mask_scores(scores, mask):
    return scores.masked_fill(mask == 1, float("-inf"))


def causal_weights(scores, d_k):
    hidden = mask_scores(scores, upper_triangular_mask(scores.size(0)))
    return torch.softmax(hidden / d_k ** 0.5, dim=-1)
