import torch


def dot_product(a, b):
    return torch.inner(a, b)


def attention_scores(query, inputs):
    return torch.inner(inputs, query)


def normalize_scores(scores):
    return scores / scores.sum()


def softmax_naive(x):
    e = torch.exp(x)
    return e / e.sum()


def softmax_stable(x):
    e = torch.exp(x - x.max())
    return e / e.sum()


def context_vector(weights, inputs):
    return torch.tensordot(weights, inputs, dims=1)
