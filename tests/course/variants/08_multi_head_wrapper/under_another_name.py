# Imports the head under another name, calls with keywords, and joins by stacking and flattening.
import torch as t
from causal_attention import CausalAttention as Head


class MultiHeadAttentionWrapper(t.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        options = dict(
            d_in=d_in,
            d_out=d_out,
            context_length=context_length,
            dropout=dropout,
            qkv_bias=qkv_bias,
        )
        self.heads = t.nn.ModuleList([Head(**options) for _ in range(num_heads)])

    def forward(self, x):
        return t.stack([head(x) for head in self.heads], dim=2).flatten(start_dim=2)
