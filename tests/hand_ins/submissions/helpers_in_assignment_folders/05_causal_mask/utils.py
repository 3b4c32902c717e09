import torch


def tri(n, lower):
    r = torch.arange(n)
    below = r.reshape(-1, 1) >= r
    return below if lower else ~below
