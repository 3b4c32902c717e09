"""after a well-known small implementation"""
import math
import inspect
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class Config:
    block_size: int = 1024
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.1
    bias: bool = True


GPT2_CONFIG = {
    "d_in": Config.n_embd,
    "d_out": Config.n_embd,
    "context_length": Config.block_size,
    "num_heads": Config.n_head,
    "dropout": Config.dropout,
}


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.drop = nn.Dropout(config.dropout)
        self.n_head = config.n_head
        self.flash = hasattr(F, "scaled_dot_product_attention")

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = (s.view(b, t, self.n_head, -1).transpose(1, 2) for s in self.c_attn(x).chunk(3, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.drop(self.c_proj(y.transpose(1, 2).reshape(b, t, c)))


def count_parameters(module):
    return sum(p.numel() for p in module.parameters())


print(count_parameters(nn.Linear(4, 4)))
