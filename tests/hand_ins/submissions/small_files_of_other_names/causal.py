import torch
from torch import nn, Tensor

class CausalAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys = self.W_query(x), self.W_key(x)
        scores = torch.bmm(queries, keys.transpose(1, 2)) / keys.size(2) ** 0.5
        hidden = torch.ones_like(scores).triu(diagonal=1).bool()  # no need to keep it
        scores = scores.masked_fill(hidden, float("-inf"))
        return torch.bmm(self.dropout(scores.softmax(dim=2)), self.W_value(x))
