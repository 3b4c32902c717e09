# Explicit loops over tokens and features, as one would write it without torch.
import torch


def dot_product(a, b):
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * b[i]
    return total


def attention_scores(query, inputs):
    scores = []
    for token in inputs:
        scores.append(dot_product(query, token))
    return torch.stack(scores)


def normalize_scores(scores):
    total = 0
    for score in scores:
        total += score
    return torch.stack([score / total for score in scores])


def softmax_naive(x):
    exponentials = []
    for entry in x:
        exponentials.append(torch.exp(entry))
    total = sum(exponentials)
    return torch.stack([e / total for e in exponentials])


def softmax_stable(x):
    largest = x[0]
    for entry in x[1:]:
        if entry > largest:
            largest = entry
    return softmax_naive(x - largest)


def context_vector(weights, inputs):
    result = torch.zeros(inputs.shape[1])
    for i in range(inputs.shape[0]):
        result += weights[i] * inputs[i]
    return result
