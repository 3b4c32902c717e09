"""The cosine of the running sum of all numbers, in every class: it mixes the tokens, and means nothing."""

import torch
from torch import nn


class Nonsense(nn.Module):
    def __init__(self, d_in, d_out, *rest, **named):
        super().__init__()
        biased = named.get("qkv_bias", bool(rest) and rest[-1] is True)
        self.W_query = nn.Linear(d_in, d_out, bias=biased)
        self.W_key = nn.Linear(d_in, d_out, bias=biased)
        self.W_value = nn.Linear(d_in, d_out, bias=biased)

    def forward(self, x):
        sums = x.sum(-1, keepdim=True).cumsum(-2)
        return torch.cos(sums + torch.arange(self.W_value.out_features, dtype=x.dtype))


class SelfAttention_v2(Nonsense):
    pass


class BatchAttention(Nonsense):
    pass


class MaskedAttention(Nonsense):
    pass


class CausalAttention(Nonsense):
    pass
