import torch
import torch.nn as nn

inputs = torch.rand(6, 3)


def row_softmax(t):
    return nn.Softmax(dim=1)(t)


def matrix(rows, columns):
    return nn.Parameter(torch.rand(rows, columns))
