# Classes made by calling type, with functions for methods.
import torch
from torch import nn

_NAMES = ("W_query", "W_key", "W_value")


def _made_with(draw):
    def __init__(self, d_in, d_out):
        nn.Module.__init__(self)
        for name in _NAMES:
            setattr(self, name, nn.Parameter(draw(d_in, d_out)))

    return __init__


def _forward(self, x):
    q, k, v = (torch.matmul(x, weight) for weight in self.parameters())
    scores = torch.addmm(torch.zeros(len(x), len(x), dtype=x.dtype), q, k.T, alpha=k.shape[1] ** -0.5)
    return scores.softmax(1) @ v


SelfAttention_v1 = type(
    "SelfAttention_v1", (nn.Module,), {"__init__": _made_with(torch.rand), "forward": _forward}
)
SelfAttentionNormal = type(
    "SelfAttentionNormal", (nn.Module,), {"__init__": _made_with(torch.randn), "forward": _forward}
)
