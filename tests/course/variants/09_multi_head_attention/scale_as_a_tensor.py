# The root of head_dim is a tensor of a single number, which goes with tensors on any device.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.scale = torch.tensor(d_out // num_heads).sqrt()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, x):
        b, n, _ = x.shape
        q = self.W_query(x).view(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        k = self.W_key(x).view(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        v = self.W_value(x).view(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        energy = torch.matmul(q, k.permute(0, 1, 3, 2)) / self.scale
        energy = energy.masked_fill(self.mask[:n, :n] == 0, -1e10)
        attention = torch.softmax(energy, dim=-1)
        x = torch.matmul(self.dropout(attention), v)
        return self.out_proj(x.permute(0, 2, 1, 3).contiguous().view(b, n, -1))
