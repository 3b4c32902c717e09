import torch
from torch import nn


def head_output(queries, keys, values):
    weights = torch.softmax(torch.einsum("id,jd->ij", queries, keys), dim=-1)
    return torch.einsum("ij,jd->id", weights, values)


def join_heads(head_outputs, output_weight):
    total, start = 0, 0
    for out in head_outputs:
        width = out.shape[1]
        total = total + out @ output_weight[start:start + width]
        start += width
    return total


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)

    def forward(self, x):
        size = (self.num_heads, self.head_dim)
        q, k, v = (p(x).unflatten(1, size) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = torch.einsum("qhd,khd->hqk", q, k) / self.head_dim ** 0.5
        y = torch.einsum("hqk,khd->qhd", s.softmax(-1), v)
        return self.out_proj(y.flatten(1))
