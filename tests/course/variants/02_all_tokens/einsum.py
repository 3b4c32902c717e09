# einsum in all its spellings: letters, an ellipsis, lists of numbers.
from torch import Tensor, einsum


def attention_scores_loop(inputs: Tensor) -> Tensor:
    return einsum("id,jd->ij", inputs, inputs)


def attention_scores_matmul(inputs: Tensor) -> Tensor:
    return einsum(inputs, [0, 2], inputs, [1, 2], [0, 1])


def attention_weights(scores: Tensor) -> Tensor:
    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return einsum("...j,...->...j", e, 1 / einsum("...j->...", e))


def context_vectors(weights: Tensor, inputs: Tensor) -> Tensor:
    return einsum("...j,jd->...d", weights, inputs)
