# einsum with ellipses, so that one line does for one token and for all.
import torch


def project(x, weight):
    return torch.einsum("...i,io->...o", x, weight)


def query_scores(query, keys):
    return torch.einsum("...d,kd->...k", query, keys)


def scaled_weights(scores, d_k):
    scores = torch.einsum("...,->...", scores, torch.tensor(d_k**-0.5, dtype=scores.dtype))
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


def weighted_values(weights, values):
    return torch.einsum("...k,kd->...d", weights, values)
