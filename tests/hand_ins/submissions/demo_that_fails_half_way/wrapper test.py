import torch
import torch.nn as nn

class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))
    def forward(self, x):
        B, N, D = x.shape
        Q, K, V = self.W_query(x), self.W_key(x), self.W_value(x)
        S = Q @ K.transpose(1, 2)
        S[:, self.mask[:N, :N].bool()] = -torch.inf
        A = self.dropout(torch.softmax(S / K.shape[-1] ** 0.5, dim=2))
        return A @ V

class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList([CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)])
    def forward(self, x):
        out = self.heads[0](x)
        for head in self.heads[1:]:
            out = out + head(x)
        return out

x = torch.rand(2, 6, 3)
mha = MultiHeadAttentionWrapper(3, 2, 6, 0.0, num_heads=2)
out = mha(x)
print(out)
print("shape should be 2, 6, 4:", out.shape)
print(out.view(2, 6, 4))
print("done")
