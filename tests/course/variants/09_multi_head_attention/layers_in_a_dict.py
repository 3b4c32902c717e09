# Registers its layers by their names, and keeps a dictionary of them as well.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.projections = {"q": self.W_query, "k": self.W_key, "v": self.W_value}
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        heads = {
            name: layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for name, layer in self.projections.items()
        }
        scores = heads["q"] @ heads["k"].mT / heads["k"].shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = self.dropout(scores.masked_fill(future, -torch.inf).softmax(-1))
        return self.out_proj((weights @ heads["v"]).transpose(1, 2).flatten(2))
