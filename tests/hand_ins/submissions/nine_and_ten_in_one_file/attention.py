import torch
from torch import nn


# exercise 9: the causal one
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1) > 0)

    def forward(self, x):
        b, t, _ = x.shape
        shape = (b, t, self.num_heads, -1)
        q = self.W_query(x).reshape(shape).permute(0, 2, 1, 3)
        k = self.W_key(x).reshape(shape).permute(0, 2, 3, 1)
        v = self.W_value(x).reshape(shape).permute(0, 2, 1, 3)
        att = (q @ k) * q.shape[-1] ** -0.5
        att = att.masked_fill(self.mask[:t, :t], float("-inf")).softmax(dim=-1)
        y = self.dropout(att) @ v
        return self.out_proj(y.permute(0, 2, 1, 3).reshape(b, t, -1))


# exercise 10: explicit heads
def join_heads(head_outputs, output_weight):
    return torch.hstack(list(head_outputs)) @ output_weight


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super().__init__()
        self.head_dim, self.num_heads = head_dim, num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)

    def forward(self, x):
        outputs = []
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        for h in range(self.num_heads):
            cols = slice(h * self.head_dim, (h + 1) * self.head_dim)
            s = q[:, cols] @ k[:, cols].T / self.head_dim ** 0.5
            outputs.append(torch.softmax(s, dim=1) @ v[:, cols])
        return self.out_proj(torch.cat(outputs, dim=1))


if __name__ == "__main__":
    print(MultiHeadAttention(8, 4, 2)(torch.rand(5, 8)).shape)
