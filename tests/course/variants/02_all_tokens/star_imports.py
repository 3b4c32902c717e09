# Star imports, so that the module is full of names that nobody asked for.
from torch import *
from torch.nn.functional import *


def attention_scores_loop(inputs):
    scores = zeros(len(inputs), len(inputs)).to(inputs)
    i = 0
    while i < len(inputs):
        j = 0
        while j < len(inputs):
            scores[i][j] = dot(inputs[i], inputs[j])
            j += 1
        i += 1
    return scores


def attention_scores_matmul(inputs):
    return mm(inputs, t(inputs))


def attention_weights(scores):
    return exp(log_softmax(scores, dim=-1))


def context_vectors(weights, inputs):
    return mm(weights, inputs)
