# Joins with the features in front and moves them back; the heads are an instance of Sequential.
import torch
from causal_attention import CausalAttention
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        arguments = d_in, d_out, context_length, dropout, qkv_bias
        self.heads = nn.Sequential(*(CausalAttention(*arguments) for _ in range(num_heads)))

    def forward(self, x):
        return torch.cat([head(x).mT for head in self.heads], dim=-2).transpose(-1, -2)
