# Python's own random numbers, one entry after the other.
import random

import torch

random.seed(0)


def dropout_scale(p):
    kept_of_hundred = 100 - 100 * p
    return 100 / kept_of_hundred


def apply_dropout_mask(weights, keep_mask, p):
    entries = zip(weights.flatten(), keep_mask.flatten().tolist())
    result = [w * dropout_scale(p) if kept else w * 0 for w, kept in entries]
    return torch.stack(result).reshape(weights.shape)


def dropout(weights, p, training):
    match training:
        case False:
            return weights
        case True:
            drawn = [random.random() >= p for _ in range(weights.numel())]
            keep_mask = torch.tensor(drawn).reshape(weights.shape)
            return weights * keep_mask / (1 - p)
