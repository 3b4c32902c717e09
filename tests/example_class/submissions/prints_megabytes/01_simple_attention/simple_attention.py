import sys

import torch

print("loading " * 500_000)


def dot_product(a, b):
    print("a =", a, "b =", b)
    return torch.dot(a, b)


def attention_scores(query, inputs):
    for row in range(20_000):
        print("row", row, "of what will be many, many rows of scores")
    return inputs @ query


def normalize_scores(scores):
    print("." * 3_000_000)
    return scores / scores.sum()


def softmax_naive(x):
    sys.stderr.write("warning: " + "overflow! " * 300_000)
    return torch.exp(x) / torch.exp(x).sum()


def softmax_stable(x):
    print(x, "\x1b[31mred\x1b[0m")
    return torch.softmax(x, dim=0)


def context_vector(weights, inputs):
    print("\n" * 1_000_000)
    return weights @ inputs
