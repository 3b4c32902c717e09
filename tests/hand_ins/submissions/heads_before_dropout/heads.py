import torch
from torch import nn

GPT2_CONFIG = {"d_in": 768, "d_out": 768, "context_length": 1024, "num_heads": 12, "dropout": 0.1}


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), 1).bool())

    def forward(self, x):
        b, n, _ = x.shape
        cut = lambda t: t.view(b, n, self.num_heads, -1).transpose(1, 2)
        q, k, v = cut(self.W_query(x)), cut(self.W_key(x)), cut(self.W_value(x))
        s = (q @ k.mT).masked_fill(self.mask[:n, :n], -torch.inf) / q.shape[-1] ** 0.5
        return self.out_proj((self.dropout(s.softmax(-1)) @ v).transpose(1, 2).flatten(2))


class GPT2MultiHeadAttention(MultiHeadAttention):
    """the same thing"""


def count_parameters(module):
    return sum(t.numel() for t in module.state_dict().values())


print(GPT2MultiHeadAttention(**GPT2_CONFIG)(torch.randn(2, 10, 768)).shape)
