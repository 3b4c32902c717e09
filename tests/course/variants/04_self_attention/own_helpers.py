# Keeps its layers together in a tuple as well, to go through them in a loop.
import torch
from torch import nn


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.layers = (self.W_query, self.W_key, self.W_value)

    def forward(self, x):
        queries, keys, values = [layer(x) for layer in self.layers]
        return torch.softmax(queries @ keys.T * keys.shape[-1] ** -0.5, dim=-1) @ values
