# Parameters and layers in torch's own dictionaries.
import torch
from torch import nn

NAMES = "W_query", "W_key", "W_value"


def attend(q, k, v):
    return nn.functional.softmax(q.mul(k.shape[-1] ** -0.5).mm(k.t()), dim=-1).mm(v)


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.matrices = nn.ParameterDict({name: torch.rand(d_in, d_out) for name in NAMES})

    def forward(self, x):
        return attend(*(x.mm(self.matrices[name]) for name in NAMES))


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.layers = nn.ModuleDict()
        for name in NAMES:
            self.layers[name] = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        return attend(*(self.layers[name](x) for name in NAMES))


def copy_weights(source, target):
    for name in NAMES:
        target.matrices[name] = nn.Parameter(source.layers[name].weight.detach().clone().T)


class SelfAttentionNormal(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.matrices = nn.ParameterDict({name: torch.randn(d_in, d_out) for name in NAMES})

    forward = SelfAttention_v1.forward
