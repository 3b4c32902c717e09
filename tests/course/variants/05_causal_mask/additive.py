# Additive masks: the logarithm of what may be seen, and -1e9 where that gives the same.
import numpy as np
import torch


def lower_triangular_mask(context_length):
    return torch.from_numpy(np.tril(np.ones((context_length, context_length), dtype=np.float32)))


def mask_weights(weights, mask):
    return weights - weights * (1 - mask)


def renormalize_rows(weights):
    return weights * weights.sum(1, keepdim=True).reciprocal()


def upper_triangular_mask(context_length):
    return torch.from_numpy(1 - np.tri(context_length, dtype=np.float32))


def mask_scores(scores, mask):
    return scores + torch.log(1 - mask.to(scores.dtype))


def causal_weights(scores, d_k):
    future = upper_triangular_mask(len(scores))
    return torch.softmax((scores + future * -1e9) / np.sqrt(d_k), dim=-1)
