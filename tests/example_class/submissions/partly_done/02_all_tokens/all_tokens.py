import torch
from torch import Tensor

from simple_attention import softmax_stable


def attention_scores_loop(inputs: Tensor) -> Tensor:
    n = len(inputs)
    return torch.tensor([[float(inputs[i] @ inputs[j]) for j in range(n)] for i in range(n)])


def attention_scores_matmul(inputs: Tensor) -> Tensor:
    return inputs.matmul(inputs.t())


def attention_weights(scores: Tensor) -> Tensor:
    return torch.stack([softmax_stable(row) for row in scores])


def context_vectors(weights: Tensor, inputs: Tensor) -> Tensor:
    ...
