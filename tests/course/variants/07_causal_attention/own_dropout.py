# A dropout layer written by hand, as in assignment 6, and a softmax written by hand.
import torch
from torch import nn


class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, weights):
        if not self.training:
            return weights
        return weights * (torch.rand_like(weights) >= self.p) / (1 - self.p)


class Softmax(nn.Module):
    def forward(self, scores):
        e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return e / e.sum(dim=-1, keepdim=True)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.weigh = nn.Sequential(Softmax(), Dropout(dropout))
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, x):
        n = x.shape[1]
        past = self.mask[:n, :n]
        scores = self.W_query(x) @ self.W_key(x).mT / self.W_key.out_features**0.5
        return self.weigh(scores.masked_fill(past == 0, -torch.inf)) @ self.W_value(x)
