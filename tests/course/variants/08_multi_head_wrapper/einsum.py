# einsum puts each head's features into their place among all.
import torch
from causal_attention import CausalAttention
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList()
        self.heads.extend(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias=qkv_bias)
            for _ in range(num_heads)
        )

    def forward(self, x):
        found = [head(x) for head in self.heads]
        count, width = len(found), found[0].shape[-1]
        place = torch.eye(count * width, dtype=found[0].dtype).reshape(count, width, -1)
        return sum(torch.einsum("btd,df->btf", one, to) for one, to in zip(found, place))
