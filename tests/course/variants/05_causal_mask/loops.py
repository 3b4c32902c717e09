# Loops over rows and columns; each row has a softmax over what it may see.
import torch


def lower_triangular_mask(context_length):
    mask = []
    for i in range(context_length):
        mask.append([1.0 if j <= i else 0.0 for j in range(context_length)])
    return torch.tensor(mask)


def mask_weights(weights, mask):
    result = weights.clone()
    for i in range(len(weights)):
        for j in range(len(weights)):
            if not mask[i, j]:
                result[i, j] = 0
    return result


def renormalize_rows(weights):
    return torch.stack([row / sum(row) for row in weights])


def upper_triangular_mask(context_length):
    mask = torch.zeros(context_length, context_length, dtype=int)
    for i in range(context_length):
        mask[i, i + 1 :] = 1
    return mask


def mask_scores(scores, mask):
    result = torch.empty_like(scores)
    for i, row in enumerate(scores):
        for j, score in enumerate(row):
            result[i, j] = float("-inf") if mask[i, j] else score
    return result


def causal_weights(scores, d_k):
    rows = []
    for i, row in enumerate(scores):
        seen = torch.softmax(row[: i + 1] / d_k**0.5, dim=0)
        rows.append(torch.cat([seen, row.new_zeros(len(row) - i - 1)]))
    return torch.stack(rows)
