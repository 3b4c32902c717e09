# A loop that appends heads, and one that writes what each answers into its place.
import torch
from causal_attention import *
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList()
        i = 0
        while i < num_heads:
            head = CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            self.heads.append(head)
            i += 1
        self.d_out = d_out

    def forward(self, x):
        batch_size, num_tokens, _ = x.shape
        result = x.new_zeros(batch_size, num_tokens, self.d_out * len(self.heads))
        for i, head in enumerate(self.heads):
            print("head", i)
            result[:, :, i * self.d_out : (i + 1) * self.d_out] = head(x)
        return result
