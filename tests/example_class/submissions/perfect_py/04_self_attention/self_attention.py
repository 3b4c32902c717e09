import torch
import torch.nn.functional as F
from torch import nn

NAMES = ("W_query", "W_key", "W_value")


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


class Base(nn.Module):
    """v1 and the normal one differ only in how they draw."""

    draw = None

    def __init__(self, d_in, d_out):
        super().__init__()
        for name in NAMES:
            self.register_parameter(name, nn.Parameter(type(self).draw(d_in, d_out)))

    def forward(self, x):
        return attend(*(x @ getattr(self, name) for name in NAMES))


class SelfAttention_v1(Base):
    draw = torch.rand


class SelfAttentionNormal(Base):
    draw = torch.randn


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        for name in NAMES:
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))

    def forward(self, x):
        return attend(self.W_query(x), self.W_key(x), self.W_value(x))


def copy_weights(source, target):
    for name in NAMES:
        getattr(target, name).data = getattr(source, name).weight.detach().T.clone()
