# The ready-made attention with a boolean mask: True where a token may look.
import torch
from torch import nn


def stack_batch(inputs, copies):
    return inputs.repeat(copies, 1, 1)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        past = torch.ones(context_length, context_length, dtype=torch.bool).tril()
        self.register_buffer("mask", past, persistent=False)

    def forward(self, x):
        n = x.shape[-2]
        return nn.functional.scaled_dot_product_attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            attn_mask=self.mask[:n, :n],
            dropout_p=self.dropout.p * self.training,
        )
