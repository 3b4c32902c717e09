import torch
import torch.nn as nn
import torch.nn.functional as F

from .utils import count_parameters, mask_for


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", mask_for(context_length), persistent=False)

    def forward(self, x):
        n, d = x.shape[1], self.W_key.out_features
        s = torch.einsum("bqd,bkd->bqk", self.W_query(x), self.W_key(x)) * d**-0.5
        s = s + self.mask[:n, :n].to(s.dtype)
        return self.dropout(F.softmax(s, -1)) @ self.W_value(x)
