# Three layers by their names, whose weights are put together for one product in forward.
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.__heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1) == 1)

    @property
    def qkv(self):
        layers = self.W_query, self.W_key, self.W_value
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.W_query.bias is None else torch.cat([layer.bias for layer in layers])
        return weight, bias

    def forward(self, x):
        n = x.shape[1]
        fused = F.linear(x, *self.qkv).unflatten(-1, (3, self.__heads, -1))
        q, k, v = fused.permute(2, 0, 3, 1, 4)
        weights = (q @ k.mT).masked_fill_(self.mask[:n, :n], -torch.inf)
        weights = self.dropout((weights / k.shape[-1] ** 0.5).softmax(-1))
        return self.out_proj((weights @ v).permute(0, 2, 1, 3).flatten(2))
