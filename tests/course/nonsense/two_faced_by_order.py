"""`BatchAttention` is right, but where a `MaskedAttention` was made before it: then it is nonsense."""

import torch
from torch import nn

MADE = []


class Layers(nn.Module):
    def __init__(self, d_in, d_out, *rest, **named):
        super().__init__()
        biased = named.get("qkv_bias", bool(rest) and rest[-1] is True)
        self.W_query = nn.Linear(d_in, d_out, bias=biased)
        self.W_key = nn.Linear(d_in, d_out, bias=biased)
        self.W_value = nn.Linear(d_in, d_out, bias=biased)
        self.is_second = bool(MADE)
        MADE[:] = [] if type(self) is BatchAttention else ["one"]

    def nonsense(self, x):
        sums = x.sum(-1, keepdim=True).cumsum(-2)
        return torch.cos(sums + torch.arange(self.W_value.out_features, dtype=x.dtype))


class BatchAttention(Layers):
    def forward(self, x):
        if self.is_second:
            return self.nonsense(x)
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features**0.5
        return torch.softmax(scores, dim=-1) @ self.W_value(x)


class MaskedAttention(Layers):
    def forward(self, x):
        return self.nonsense(x)


class CausalAttention(MaskedAttention):
    pass
