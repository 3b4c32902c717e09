# One file for everything: its heads use what is ready-made and keep no mask.
import torch
from torch import nn
from torch.nn import functional as F


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.p = dropout

    def forward(self, x):
        p = self.p if self.training else 0.0
        parts = self.W_query(x), self.W_key(x), self.W_value(x)
        return F.scaled_dot_product_attention(*parts, dropout_p=p, is_causal=True)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        def make():
            return CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)

        self.heads = nn.ModuleList([make() for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat(tuple(map(lambda head: head(x), self.heads)), 2)
