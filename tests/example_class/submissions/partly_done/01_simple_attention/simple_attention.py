import torch
from torch import Tensor


def dot_product(a: Tensor, b: Tensor) -> Tensor:
    return torch.dot(a, b)


def attention_scores(query: Tensor, inputs: Tensor) -> Tensor:
    return torch.mv(inputs, query)


def normalize_scores(scores: Tensor) -> Tensor:
    return scores / scores.sum()


def softmax_naive(x: Tensor) -> Tensor:
    powers = torch.exp(x)
    print("sum of powers:", powers.sum())
    # off by one?
    return powers / powers[1:].sum()


def softmax_stable(x: Tensor) -> Tensor:
    # TODO: subtract the largest score before taking exponentials.
    raise NotImplementedError("01_simple_attention/softmax_stable: not attempted yet")


def context_vector(weights: Tensor, inputs: Tensor) -> Tensor:
    # TODO: multiply each token by its weight and add the products up.
    raise NotImplementedError("01_simple_attention/context_vector: not attempted yet")
