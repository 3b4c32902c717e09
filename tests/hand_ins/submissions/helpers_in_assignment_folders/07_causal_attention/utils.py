import torch
import torch.nn as nn


def three_layers(d_in, d_out, bias):
    return [nn.Linear(d_in, d_out, bias=bias) for _ in range(3)]


def mask(n):
    return torch.tril(torch.ones(n, n))
