# The three projections live in a module of their own, the mixing in another.
import torch
from torch import nn


class Projections(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.W_query = make()
        self.W_key = make()
        self.W_value = make()


class Mix(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.T / k.shape[1] ** 0.5, dim=1) @ v


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.projections = Projections(lambda: nn.Parameter(torch.rand(d_in, d_out)))
        self.mix = Mix()

    def forward(self, x):
        p = self.projections
        return self.mix(x @ p.W_query, x @ p.W_key, x @ p.W_value)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.projections = Projections(lambda: nn.Linear(d_in, d_out, bias=qkv_bias))
        self.mix = Mix()

    def forward(self, x):
        return self.mix(*(layer(x) for layer in self.projections.children()))


def copy_weights(source, target):
    for name, layer in source.projections.named_children():
        matrix = getattr(target.projections, name)
        matrix.data.copy_(layer.weight.detach().t())
