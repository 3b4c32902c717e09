import torch
import torch.nn.functional as F
from torch import nn

GPT2_CONFIG = dict(d_in=768, d_out=768, context_length=1024, num_heads=12, dropout=0.1)


def count_parameters(module):
    return sum(p.numel() for p in module.parameters())


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_out} features")
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, n, _ = x.shape
        if n > self.context_length:
            raise ValueError(f"a text of {n} tokens, at most {self.context_length} fit")
        q, k, v = (
            layer(x).view(batch, n, self.num_heads, -1).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        p = self.dropout.p if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))
