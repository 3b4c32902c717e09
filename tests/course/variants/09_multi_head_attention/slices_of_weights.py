# Each head projects by its own rows of the weights; nn.functional.linear.
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out // num_heads * num_heads != d_out:
            raise TypeError("heads do not fit")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.p = dropout
        self.context_length = context_length

    def slices(self, layer):
        weights = layer.weight.chunk(self.num_heads)
        biases = [None] * self.num_heads if layer.bias is None else layer.bias.chunk(self.num_heads)
        return zip(weights, biases)

    def forward(self, x):
        if x.shape[1] > self.context_length:
            raise ValueError(f"at most {self.context_length} tokens")
        heads = zip(self.slices(self.W_query), self.slices(self.W_key), self.slices(self.W_value))
        output = self.out_proj.bias
        for head, out in zip(heads, self.out_proj.weight.chunk(self.num_heads, dim=1)):
            q, k, v = (F.linear(x, weight, bias) for weight, bias in head)
            context = F.scaled_dot_product_attention(
                q, k, v, is_causal=True, dropout_p=self.p if self.training else 0
            )
            output = output + F.linear(context, out)
        return output
