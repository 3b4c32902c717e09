# Registers its layers by their names, and once more in an nn.ModuleList, for a loop.
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.layers = nn.ModuleList([self.W_query, self.W_key, self.W_value])
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (layer(x) for layer in self.layers)
        scores = (q @ k.mT).masked_fill(self.mask[:n, :n], -torch.inf)
        return self.dropout(torch.softmax(scores * k.shape[-1] ** -0.5, dim=-1)) @ v
