import torch
from torch import nn


def head_output(queries, keys, values):
    scores = torch.mm(queries, keys.t())
    return torch.mm(torch.softmax(scores, dim=-1), values)


def join_heads(head_outputs, output_weight):
    return torch.cat(tuple(head_outputs), dim=-1).mm(output_weight)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)

    def forward(self, x):
        n = x.shape[0]
        cut = lambda t: t.reshape(self.num_heads, n, self.head_dim)
        q, k, v = cut(self.q_proj(x)), cut(self.k_proj(x)), cut(self.v_proj(x))
        w = torch.softmax(q @ k.mT / self.head_dim ** 0.5, dim=-1)
        return self.out_proj((w @ v).reshape(n, -1))
