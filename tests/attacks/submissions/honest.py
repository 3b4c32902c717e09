# ruff: noqa
"""A right submission."""

import torch
from torch import nn


def double(x):
    return x + x


def total(x):
    return x.sum().item()


class Layer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x):
        return self.W(x)
