import torch
import torch.nn as nn
from torchinfo import summary


def stack_batch(inputs, copies):
    return torch.stack([inputs for _ in range(copies)], dim=0)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        torch.manual_seed(123)
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.mask = torch.triu(torch.ones(context_length, context_length), diagonal=1).bool()

    def forward(self, x):
        n = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        scores = scores.masked_fill(self.mask[:n, :n], -torch.inf)
        weights = torch.softmax(scores / self.W_key.out_features ** 0.5, dim=-1)
        return self.dropout(weights) @ self.W_value(x)


if __name__ == "__main__":
    summary(CausalAttention(3, 2, 6, 0.0), input_size=(2, 6, 3))
