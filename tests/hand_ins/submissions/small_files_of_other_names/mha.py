import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        assert d_out % num_heads == 0
        super().__init__()
        self.n = num_heads
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = (
            torch.stack(layer(x).chunk(self.n, dim=-1), dim=1)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        s = q @ k.mT / q.size(-1) ** 0.5
        s = s.masked_fill(torch.ones_like(s).triu(1) == 1, -torch.inf)
        heads = self.dropout(s.softmax(-1)) @ v
        return self.out_proj(torch.cat(heads.unbind(1), dim=-1))
