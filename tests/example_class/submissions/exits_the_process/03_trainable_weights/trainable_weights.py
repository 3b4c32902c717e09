import torch
from torch import nn


def init_weights(d_in, d_out):
    weights = [nn.Parameter(torch.rand(d_in, d_out), requires_grad=False) for _ in range(3)]
    return tuple(weights)


def init_weights_normal(d_in, d_out):
    return tuple(nn.Parameter(torch.randn(d_in, d_out)) for _ in range(3))


def project(x, weight):
    return x @ weight


def query_scores(query, keys):
    return query @ keys.T


def scaled_weights(scores, d_k):
    return torch.softmax(scores * d_k**-0.5, dim=-1)


def weighted_values(weights, values):
    return weights @ values
