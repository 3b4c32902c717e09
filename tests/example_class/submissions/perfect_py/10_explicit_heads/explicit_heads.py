import torch
import torch.nn.functional as F
from torch import nn


def head_output(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values, scale=1.0)


def join_heads(head_outputs, output_weight):
    return torch.cat(tuple(head_outputs), dim=1) @ output_weight


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.head_dim = head_dim
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)

    def forward(self, x):
        parts = [layer(x).split(self.head_dim, dim=1) for layer in (self.q_proj, self.k_proj, self.v_proj)]
        heads = [head_output(q / self.head_dim**0.5, k, v) for q, k, v in zip(*parts)]
        return self.out_proj(torch.cat(heads, dim=1))
