import torch


def mask_for(n):
    return torch.full((n, n), float("-inf")).triu(1)


def count_parameters(module):
    total = 0
    for p in module.parameters():
        n = 1
        for size in p.shape:
            n *= size
        total += n
    return total
