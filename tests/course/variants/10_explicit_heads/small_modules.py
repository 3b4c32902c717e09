# A module for one head without parameters; settings in a frozen dataclass; a match in forward.
from dataclasses import dataclass

import torch
from torch import nn as nn


@dataclass(frozen=True)
class Sizes:
    embed_dim: int
    head_dim: int
    num_heads: int

    @property
    def width(self):
        return self.head_dim * self.num_heads


class Head(nn.Module):
    scale = 1.0

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) * self.scale
        e = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
        return e @ v


head_output = Head()


class ScaledHead(Head):
    def __init__(self, head_dim):
        super().__init__()
        self.scale = head_dim**-0.5


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.sizes = sizes = Sizes(embed_dim, head_dim, num_heads)
        self.q_proj = nn.Linear(sizes.embed_dim, sizes.width)
        self.k_proj = nn.Linear(sizes.embed_dim, sizes.width)
        self.v_proj = nn.Linear(sizes.embed_dim, sizes.width)
        self.out_proj = nn.Linear(sizes.width, sizes.embed_dim)
        self.heads = nn.ModuleList(ScaledHead(head_dim) for _ in range(num_heads))

    def forward(self, x):
        match x.shape:
            case (tokens, features) if features == self.sizes.embed_dim:
                q, k, v = (p(x).chunk(len(self.heads), -1) for p in (self.q_proj, self.k_proj, self.v_proj))
                found = [head(*parts) for head, *parts in zip(self.heads, q, k, v)]
                return self.out_proj(torch.cat(found, dim=-1).view(tokens, -1))
            case shape:
                raise ValueError(f"what is {tuple(shape)}?")
