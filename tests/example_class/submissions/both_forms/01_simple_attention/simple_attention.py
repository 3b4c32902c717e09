import torch


def dot_product(a, b):
    return torch.dot(a, b)


def attention_scores(query, inputs):
    return torch.mv(inputs, query)


def normalize_scores(scores):
    return scores / torch.sum(scores)


def softmax_naive(x):
    return torch.exp(x) / torch.sum(torch.exp(x))


def softmax_stable(x):
    return softmax_naive(x - max(x))


def context_vector(weights, inputs):
    return inputs.T @ weights
