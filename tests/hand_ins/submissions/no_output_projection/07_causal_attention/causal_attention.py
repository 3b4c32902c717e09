import torch
from torch import nn

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), -torch.inf).triu(1))

    def forward(self, x):
        n = x.shape[1]
        k = self.W_key(x)
        s = self.W_query(x) @ k.transpose(1, 2) / k.shape[2] ** 0.5 + self.mask[:n, :n].type_as(k)
        return self.dropout(torch.softmax(s, -1)) @ self.W_value(x)
