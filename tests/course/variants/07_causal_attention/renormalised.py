# Softmax first, then the lower triangle, then rows that sum to 1 again; a uint8 mask.
import torch
from torch import Tensor, nn


def stack_batch(inputs: Tensor, copies: int) -> Tensor:
    return inputs[None].tile((copies, 1, 1))


class CausalAttention(nn.Module):
    mask: Tensor

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).byte().tril())

    def forward(self, x: Tensor) -> Tensor:
        num_tokens = x.shape[1]
        scores: Tensor = self.W_query(x) @ self.W_key(x).transpose(-2, -1)
        weights = torch.softmax(scores / self.W_key.out_features**0.5, dim=-1)
        weights = weights * self.mask[:num_tokens, :num_tokens]
        weights = weights / weights.sum(dim=-1, keepdim=True)
        context: Tensor = self.dropout(weights) @ self.W_value(x)
        return context
