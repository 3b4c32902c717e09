import torch
import torch.nn as nn
from SelfAttention_v2 import SelfAttention_v2

class CausalAttention(SelfAttention_v2):
    """like v2, plus mask, dropout and batches"""
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        n = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        scores = scores.masked_fill(self.mask[:n, :n], -torch.inf)
        return self.dropout(torch.softmax(scores * self.scale, dim=2)) @ self.W_value(x)
