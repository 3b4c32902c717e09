# The scaling in two steps of d_k ** 0.25 each; a seed at the top; functools.partial.
import functools

import torch
from torch import nn

torch.manual_seed(42)

softmax = functools.partial(torch.softmax, dim=-1)


def init_weights_normal(d_in, d_out):
    draw = functools.partial(torch.normal, mean=0.0, std=1.0, size=(d_in, d_out))
    query = nn.Parameter(draw())
    key = nn.Parameter(draw())
    return query, key, nn.Parameter(draw())


def scaled_weights(scores, d_k):
    quarter = d_k**0.25
    return softmax(scores / quarter / quarter)


def weighted_values(weights, values):
    return (values.T @ weights.T).T if weights.dim() > 1 else values.T @ weights


def query_scores(query, keys):
    return (keys @ query.T).T if query.dim() > 1 else keys @ query
