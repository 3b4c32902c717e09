# baddbmm with an additive mask that is made for each text, in the dtype of its scores.
import torch
from torch import nn


def stack_batch(inputs, copies):
    return torch.cat([inputs.unsqueeze(0) for _ in range(copies)])


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        future = queries.new_full((n, n), -1e9).triu_(diagonal=1)
        scores = torch.baddbmm(future, queries * queries.shape[-1] ** -0.5, keys.transpose(-1, -2))
        return self.dropout(torch.softmax(scores, dim=-1)).bmm(values)
