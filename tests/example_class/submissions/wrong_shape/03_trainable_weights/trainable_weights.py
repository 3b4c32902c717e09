import torch
from torch import nn


def init_weights(d_in, d_out):
    return nn.Parameter(torch.rand(3, d_in, d_out), requires_grad=False)


def init_weights_normal(d_in, d_out):
    return [nn.Parameter(torch.randn(d_out, d_in)) for _ in range(3)]


def project(x, weight):
    return weight @ x


def query_scores(query, keys):
    return query * keys


def scaled_weights(scores, d_k):
    return torch.softmax(scores / d_k**0.5, dim=0)


def weighted_values(weights, values):
    return values.T @ weights
