import torch
import torch.nn as nn
import utils


def stack_batch(inputs, copies):
    return torch.stack(tuple(inputs for _ in range(copies)))


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = utils.three_layers(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", utils.mask(context_length))

    def forward(self, x):
        L = x.shape[1]
        att = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        att = att.masked_fill(self.mask[:L, :L] == 0, -torch.inf)
        att = (att / self.W_key.weight.shape[0] ** 0.5).softmax(dim=-1)
        return self.dropout(att) @ self.W_value(x)
