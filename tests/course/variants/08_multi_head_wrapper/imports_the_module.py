# Imports the module, so that the file itself has no name `CausalAttention`; appends heads.
import causal_attention
import torch
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList()
        for _ in range(num_heads):
            head = causal_attention.CausalAttention(
                d_in, d_out, context_length, dropout, qkv_bias=qkv_bias
            )
            self.heads.append(head)

    def forward(self, x):
        out = self.heads[0](x)
        for head in self.heads[1:]:
            out = torch.concat((out, head(x)), -1)
        return out
