# Counts entries with numpy's product, as many texts do.
import numpy as np
from torch import nn

SHARED_LAYER = nn.Linear(4, 4)
EXAMPLE_MODEL = nn.Sequential(SHARED_LAYER, nn.BatchNorm1d(4), SHARED_LAYER)


def count_parameters(module):
    return sum(np.prod(p.size()) for p in module.parameters())


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.1, qkv_bias=False):
        super().__init__()
        assert np.mod(d_out, num_heads) == 0
        self.heads = (num_heads, d_out // num_heads)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(-1, self.heads).movedim(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        n = x.shape[1]
        future = x.new_ones(n, n).triu(1) * -1e9
        weights = (q @ k.mT / np.sqrt(q.shape[-1]) + future).softmax(-1)
        return self.out_proj((self.dropout(weights) @ v).movedim(1, 2).flatten(2))
