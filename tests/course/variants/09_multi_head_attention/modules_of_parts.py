# Built from modules of their own for heads, mask and mixing; the layers are on the outermost one.
import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, num_heads):
        super().__init__()
        self.split = nn.Unflatten(-1, (num_heads, -1))

    def forward(self, x):
        return self.split(x).transpose(1, 2)


class Mixing(nn.Module):
    def __init__(self, context_length, dropout):
        super().__init__()
        self.past = nn.Buffer(torch.ones(context_length, context_length).tril() > 0, persistent=False)
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v):
        n, d = q.shape[-2:]
        scores = torch.where(self.past[:n, :n], (q * d**-0.5) @ k.mT, -torch.inf)
        return self.dropout(self.softmax(scores)) @ v


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("d_out % num_heads != 0")
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.heads = Heads(num_heads)
        self.mixing = Mixing(context_length, dropout)
        self.merge = nn.Flatten(2)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q, k, v = map(self.heads, (self.W_query(x), self.W_key(x), self.W_value(x)))
        return self.out_proj(self.merge(self.mixing(q, k, v).transpose(1, 2)))
