# The softmax over everything first, the mask after it, and the rows made to sum to 1 again.
import torch


def lower_triangular_mask(context_length):
    return torch.ones((context_length,) * 2, dtype=torch.uint8).tril()


def mask_weights(weights, mask):
    return weights.mul(mask)


def renormalize_rows(weights):
    return weights / weights.sum(-1).unsqueeze(-1)


def upper_triangular_mask(context_length):
    return 1 - lower_triangular_mask(context_length)


def mask_scores(scores, mask):
    masked = scores.clone()
    masked[mask == 1] = float("-inf")
    return masked


def causal_weights(scores, d_k):
    weights = torch.softmax(scores / d_k**0.5, dim=-1)
    weights = mask_weights(weights, lower_triangular_mask(scores.shape[-1]))
    return renormalize_rows(weights)
