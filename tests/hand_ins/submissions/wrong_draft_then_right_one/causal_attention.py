import torch
from torch import nn

# first try. does not work with batches!!
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.mask = torch.tril(torch.ones(context_length, context_length))

    def forward(self, x):
        s = self.W_query(x) @ self.W_key(x).T
        s = s * self.mask
        return torch.softmax(s, dim=-1) @ self.W_value(x)


# second try, this one is OK
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        T = x.shape[1]
        s = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        s = s / s.new_tensor(self.W_key.out_features).sqrt()
        s = s.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return self.dropout(torch.softmax(s, dim=-1)) @ self.W_value(x)
