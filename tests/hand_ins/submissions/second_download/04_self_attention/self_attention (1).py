import torch
from torch import nn

class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = (x @ w for w in (self.W_query, self.W_key, self.W_value))
        return torch.softmax(q @ k.T / k.shape[0] ** 0.5, dim=-1) @ v

class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)

    def forward(self, x):
        q, k, v = (w(x) for w in (self.W_query, self.W_key, self.W_value))
        return torch.softmax(q @ k.T / k.shape[1] ** 0.5, dim=-1) @ v

def copy_weights(source, target):
    with torch.no_grad():
        target.W_query[:] = source.W_query.weight.T
        target.W_key[:] = source.W_key.weight.T
        target.W_value[:] = source.W_value.weight.T
