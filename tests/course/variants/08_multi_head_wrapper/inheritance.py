# Heads of a class that inherits, in a wrapper that inherits; names the list a second time.
import torch
from causal_attention import CausalAttention
from torch import nn


class Head(CausalAttention):
    """A head that knows its number."""

    number = 0


class Heads(nn.Module):
    def make(self, num_heads, *args):
        heads = []
        for number in range(num_heads):
            head = Head(*args)
            head.number = number
            heads.append(head)
        self.heads = nn.ModuleList(heads)

    def answers(self, x):
        for head in self.heads:
            yield head(x)


class MultiHeadAttentionWrapper(Heads):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.make(num_heads, d_in, d_out, context_length, dropout, qkv_bias)
        self.all_heads = self.heads

    def forward(self, inputs):
        return torch.cat([*self.answers(inputs)], dim=inputs.dim() - 1)
