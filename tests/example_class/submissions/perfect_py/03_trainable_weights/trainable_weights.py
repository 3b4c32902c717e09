import math

import torch
import torch.nn.functional as F
from torch import nn


def three(draw, d_in, d_out, **options):
    return tuple(nn.Parameter(draw(d_in, d_out), **options) for _ in ("query", "key", "value"))


def init_weights(d_in, d_out):
    return three(torch.rand, d_in, d_out, requires_grad=False)


def init_weights_normal(d_in, d_out):
    return three(torch.randn, d_in, d_out)


def project(x, weight):
    return F.linear(x, weight.mT)


def query_scores(query, keys):
    return torch.einsum("...d,kd->...k", query, keys)


def scaled_weights(scores, d_k):
    return F.log_softmax(scores / math.sqrt(d_k), dim=-1).exp()


def weighted_values(weights, values):
    return weights.matmul(values)
