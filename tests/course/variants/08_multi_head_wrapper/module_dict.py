# Keeps the heads in a module dict, and in a tuple for the order.
import torch
from causal_attention import CausalAttention
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.in_order = tuple(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            for _ in range(num_heads)
        )
        self.heads = nn.ModuleDict({str(i): head for i, head in enumerate(self.in_order)})

    def forward(self, x):
        return torch.cat([head(x) for head in self.in_order], dim=-1)
