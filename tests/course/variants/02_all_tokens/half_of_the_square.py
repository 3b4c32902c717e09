# Scores are symmetric: half of them are computed, the other half mirrored.
import itertools

import torch
from torch.nn import functional


def attention_scores_loop(inputs):
    n = len(inputs)
    scores = inputs.new_empty((n, n))
    for i, j in itertools.combinations_with_replacement(range(n), 2):
        scores[i, j] = scores[j, i] = inputs[i].dot(inputs[j])
    return scores


def attention_scores_matmul(inputs):
    upper = torch.matmul(inputs, inputs.transpose(0, 1)).triu()
    return upper + upper.triu(1).mT


def attention_weights(scores):
    return functional.softmax(input=scores, dim=1)


def context_vectors(weights, inputs):
    return functional.linear(weights, inputs.t())
