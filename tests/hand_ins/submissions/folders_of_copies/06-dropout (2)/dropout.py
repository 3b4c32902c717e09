import torch

def dropout_scale(p):
    return 1 / (1 - p)

def dropout(weights, p, training):
    if not training:
        return weights
    keep = (torch.rand(weights.shape[0]) >= p).to(weights.dtype)
    keep = keep.reshape(-1, *[1] * (weights.dim() - 1))
    return weights * keep * dropout_scale(p)
