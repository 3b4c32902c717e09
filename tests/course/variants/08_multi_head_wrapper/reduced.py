# map and reduce: what the heads answer is joined two at a time.
from functools import reduce
from operator import methodcaller

import torch
from causal_attention import CausalAttention
from torch import nn as nn

together = lambda one, other: torch.concatenate((one, other), axis=2)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        sizes = d_in, d_out, context_length, dropout
        self.heads = nn.ModuleList([CausalAttention(*sizes, qkv_bias=qkv_bias) for _ in range(num_heads)])

    def forward(self, x):
        return reduce(together, map(methodcaller("forward", x), self.heads))
