import torch
import torch.nn as nn

class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.scale = d_out ** -0.5

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).t()
        return torch.softmax(scores * self.scale, dim=1) @ self.W_value(x)
