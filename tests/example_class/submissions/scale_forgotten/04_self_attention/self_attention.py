import torch
from torch import nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q = x @ self.W_query
        k = x @ self.W_key
        v = x @ self.W_value
        scores = torch.einsum("qd,kd->qk", q, k)
        return torch.softmax(scores / torch.tensor(k.size(1)).sqrt(), dim=-1) @ v


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        weights = torch.einsum("qd,kd->qk", q, k).softmax(dim=-1)
        return torch.einsum("qk,kd->qd", weights, v)


def copy_weights(source, target):
    with torch.no_grad():
        for name in ("W_query", "W_key", "W_value"):
            getattr(target, name).copy_(getattr(source, name).weight.t())
