# einsum throughout; heads are stacked, and the output weight has a block for each.
import torch
from torch import einsum, nn


def head_output(queries, keys, values):
    e = einsum("qd,kd->qk", queries, keys).exp()
    return einsum("qk,kd,q->qd", e, values, 1 / einsum("qk->q", e))


def join_heads(head_outputs, output_weight):
    heads = torch.stack(tuple(head_outputs))
    blocks = output_weight.reshape(len(heads), heads.shape[-1], -1)
    return einsum("htd,hdo->to", heads, blocks)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)
        self.sizes = num_heads, head_dim

    def forward(self, x):
        q, k, v = (p(x).unflatten(1, self.sizes) for p in (self.q_proj, self.k_proj, self.v_proj))
        weights = einsum("qhd,khd->hqk", q, k).div(self.sizes[1] ** 0.5).softmax(dim=2)
        return self.out_proj(einsum("hqk,khd->qhd", weights, v).flatten(1))
