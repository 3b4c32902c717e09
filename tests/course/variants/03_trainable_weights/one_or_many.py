# Tells one token from many by the number of axes, with match and with if.
import torch
from torch import nn


def init_weights(d_in, d_out):
    with torch.no_grad():
        query = torch.rand((d_in, d_out))
        key = torch.rand(size=(d_in, d_out))
        value = torch.rand(d_in, d_out, requires_grad=False)
    return tuple(nn.Parameter(data=w, requires_grad=False) for w in (query, key, value))


def project(x, weight):
    match x.dim():
        case 1:
            return (x.unsqueeze(0) @ weight).squeeze(0)
        case 2:
            return x @ weight
        case other:
            raise ValueError(f"{other} axes")


def query_scores(query, keys):
    if query.ndim == 1:
        return torch.stack([torch.dot(query, key) for key in keys])
    return torch.stack([query_scores(one, keys) for one in query])


def scaled_weights(scores, d_k):
    if scores.ndim > 1:
        return torch.stack([scaled_weights(row, d_k) for row in scores])
    e = torch.exp((scores - scores.max()) / d_k**0.5)
    return e / e.sum()


def weighted_values(weights, values):
    if weights.ndim > 1:
        return torch.stack([weighted_values(row, values) for row in weights])
    return sum(w * v for w, v in zip(weights, values))
