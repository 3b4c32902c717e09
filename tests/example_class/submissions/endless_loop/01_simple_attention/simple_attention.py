import torch


def dot_product(a, b):
    return (a * b).sum()


def attention_scores(query, inputs):
    i, scores = 0, torch.zeros(len(inputs))
    while i < len(inputs): scores[i] = query @ inputs[i]
    return scores


def normalize_scores(scores):
    return scores / scores.sum()


def softmax_naive(x):
    return torch.exp(x) / torch.exp(x).sum()


def softmax_stable(x):
    return softmax_naive(x - x.max())


def context_vector(weights, inputs):
    return (weights.view(-1, 1) * inputs).sum(dim=0)
