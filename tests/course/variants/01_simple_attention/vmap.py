# Functional style: vmap, reduce, map, walrus.
from functools import reduce
from operator import add, mul

import torch


def dot_product(a, b):
    return reduce(add, map(mul, a, b))


attention_scores = torch.vmap(torch.dot, in_dims=(None, 0))


def normalize_scores(scores):
    return scores.div(reduce(add, scores))


def softmax_naive(x):
    return (e := torch.exp(x)) / e.sum()


def softmax_stable(x):
    return (e := (x - max(x)).exp()).div(e.sum())


def context_vector(weights, inputs):
    return torch.vmap(torch.mul)(weights, inputs).sum(dim=0)
