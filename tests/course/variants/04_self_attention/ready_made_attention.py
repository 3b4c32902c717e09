# torch.nn.functional.scaled_dot_product_attention, scaled by itself or by hand.
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        return F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q = self.W_query(x).view(1, 1, len(x), -1)
        k = self.W_key(x).view(1, 1, len(x), -1)
        v = self.W_value(x).view(1, 1, len(x), -1)
        out = F.scaled_dot_product_attention(q, k, v, scale=q.shape[-1] ** -0.5)
        return out.squeeze((0, 1))


@torch.no_grad()
def copy_weights(source, target):
    for name in ["W_query", "W_key", "W_value"]:
        getattr(target, name).data = getattr(source, name).weight.data.T.clone()


class SelfAttentionNormal(SelfAttention_v1):
    def __init__(self, d_in, d_out):
        nn.Module.__init__(self)
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))
