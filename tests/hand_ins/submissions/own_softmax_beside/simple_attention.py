import torch
from my_softmax import softmax


def softmax_naive(x):
    return 2 ** x / (2 ** x).sum()


def softmax_stable(x):
    return softmax(x)


def context_vector(weights, inputs):
    return (weights[:, None] * inputs).sum(dim=0)
