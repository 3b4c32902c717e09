# The ready-made attention, told not to scale; the class builds on its own two functions.
from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention as attend


def head_output(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return attend(queries[None], keys[None], values[None], scale=1.0).squeeze(0)


def join_heads(head_outputs: list[Tensor], output_weight: Tensor) -> Tensor:
    return torch.hstack(head_outputs).mm(output_weight)


class MultiHeadAttention(nn.Module):
    """複数のヘッドを持つ注意機構。"""

    def __init__(self, embed_dim: int, head_dim: int, num_heads: int) -> None:
        super().__init__()
        self.幅 = head_dim
        self.q_proj = nn.Linear(embed_dim, (全体 := head_dim * num_heads))
        self.k_proj = nn.Linear(embed_dim, 全体)
        self.v_proj = nn.Linear(embed_dim, 全体)
        self.out_proj = nn.Linear(全体, embed_dim)

    def heads(self, projected: Tensor) -> Tensor:
        return torch.stack(projected.split(self.幅, dim=-1))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        return self.out_proj(torch.cat(attend(q, k, v).unbind(), dim=-1))
