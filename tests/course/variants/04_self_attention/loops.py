# A loop over queries, and inside it a loop over keys; context vectors are added up.
import torch
from torch import nn


def one_query(query, keys, values):
    scores = torch.stack([query.dot(key) for key in keys])
    exponentials = (scores / len(query) ** 0.5).exp()
    total = exponentials.sum()
    context = 0
    for exponential, value in zip(exponentials, values):
        context = context + exponential / total * value
    return context


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = [token @ self.W_key for token in x]
        values = [token @ self.W_value for token in x]
        contexts = []
        for token in x:
            contexts.append(one_query(token @ self.W_query, keys, values))
        return torch.stack(contexts)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        keys, values = self.W_key(x), self.W_value(x)
        return torch.stack([one_query(self.W_query(token), keys, values) for token in x])


def copy_weights(source, target):
    for layer, matrix in (
        (source.W_query, target.W_query),
        (source.W_key, target.W_key),
        (source.W_value, target.W_value),
    ):
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                matrix.data[i, j] = layer.weight[j, i].item()
    return target
