from torch import *
from torch.nn import *
from torch.nn.functional import *
from math import *
from matplotlib.pyplot import *
from typing import *


def init_weights_normal(d_in: int, d_out: int) -> Tuple[Parameter, Parameter, Parameter]:
    return Parameter(randn(d_in, d_out)), Parameter(randn(d_in, d_out)), Parameter(randn(d_in, d_out))


def scaled_weights(scores, d_k):
    return softmax(scores / sqrt(d_k), dim=-1)


class SelfAttention_v1(Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = Parameter(rand(d_in, d_out))
        self.W_key = Parameter(rand(d_in, d_out))
        self.W_value = Parameter(rand(d_in, d_out))

    def forward(self, x):
        k = matmul(x, self.W_key)
        return scaled_weights(x @ self.W_query @ k.T, k.shape[-1]) @ x @ self.W_value


class SelfAttention_v2(Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        k = self.W_key(x)
        return scaled_weights(self.W_query(x) @ k.T, k.shape[-1]) @ self.W_value(x)
