# The three weights as a list, from a comprehension or a helper; gradients switched off afterwards.
import math

import torch
from torch import nn


def _drawn(draw, d_in, d_out, **options):
    return [nn.Parameter(draw(d_in, d_out), **options) for _ in range(3)]


def init_weights(d_in, d_out):
    weights = _drawn(torch.rand, d_in, d_out)
    for weight in weights:
        weight.requires_grad_(False)
    return weights


def init_weights_normal(d_in, d_out):
    return _drawn(torch.randn, d_in, d_out, requires_grad=True)


def project(x, weight):
    return torch.matmul(x, weight)


def query_scores(query, keys):
    return torch.matmul(query, keys.transpose(-2, -1))


def scaled_weights(scores, d_k):
    return nn.functional.softmax(scores / math.sqrt(d_k), dim=-1)


def weighted_values(weights, values):
    return torch.matmul(weights, values)
