# Loops down to single numbers, in plain lists that are stacked at the end.
import torch


def attention_scores_loop(inputs):
    rows = []
    for query in inputs:
        row = []
        for token in inputs:
            score = 0
            for a, b in zip(query, token, strict=True):
                score = score + a * b
            row.append(score)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def attention_scores_matmul(inputs):
    return torch.stack([inputs.mv(token) for token in inputs])


def attention_weights(scores):
    weights = torch.zeros_like(scores)
    for i in range(scores.size(0)):
        exponentials = (scores[i] - scores[i].max()).exp()
        for j in range(scores.size(1)):
            weights[i, j] = exponentials[j] / exponentials.sum()
    return weights


def context_vectors(weights, inputs):
    contexts = []
    for row in weights:
        context = torch.zeros_like(inputs[0])
        for weight, token in zip(row, inputs):
            context = context + weight * token
        contexts.append(context)
    return torch.vstack(contexts)
