# The class of assignment 9 in this file, and GPT-2's as a subclass with its arguments in order.
import torch
from torch import nn

GPT2_CONFIG = dict(d_in=768, d_out=768, context_length=1024, num_heads=12, dropout=0.1)

SHARED_LAYER = nn.Linear(4, 4)
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER)


def count_parameters(module):
    total = 0
    for parameter in module.parameters():
        total += parameter.nelement()
    print(f"{total:,} parameters")
    return total


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        q = self.W_query(x).view(b, n, self.num_heads, -1).transpose(1, 2)
        k = self.W_key(x).view(b, n, self.num_heads, -1).transpose(1, 2)
        v = self.W_value(x).view(b, n, self.num_heads, -1).transpose(1, 2)
        scores = (q @ k.transpose(2, 3)).masked_fill(self.mask.bool()[:n, :n], -torch.inf)
        weights = self.dropout(torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1))
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, n, -1))


class GPT2MultiHeadAttention(MultiHeadAttention):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, num_heads, qkv_bias)


if __name__ == "__main__":
    print(GPT2MultiHeadAttention(**GPT2_CONFIG)(torch.randn(2, 10, 768)).shape)
