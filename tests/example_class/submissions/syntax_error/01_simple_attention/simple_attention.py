import torch


def dot_product(a, b):
    return torch.sum(a * b)


def attention_scores(query, inputs):
    return inputs @ query


def normalize_scores(scores):
    return scores / sum(scores)


def softmax_naive(x)
    return torch.exp(x) / torch.exp(x).sum()


def softmax_stable(x):
    return torch.softmax(x, 0)


def context_vector(weights, inputs):
    return weights @ inputs
