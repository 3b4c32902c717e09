# Step by step, as the document writes it.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)


def head_output(queries, keys, values):
    scores = torch.matmul(queries, keys.T)
    print("Attention scores:\n", scores)
    attention_weights = F.softmax(scores, dim=-1)
    print("Attention weights:\n", attention_weights)
    return torch.matmul(attention_weights, values)


def join_heads(head_outputs, output_weight):
    concat = torch.cat(head_outputs, dim=-1)
    return torch.matmul(concat, output_weight)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, head_dim, num_heads):
        super(MultiHeadAttention, self).__init__()
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.q_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.k_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.v_proj = nn.Linear(embed_dim, num_heads * head_dim)
        self.out_proj = nn.Linear(num_heads * head_dim, embed_dim)

    def forward(self, x):
        seq_len, _ = x.shape
        Q = self.q_proj(x).view(seq_len, self.num_heads, self.head_dim).transpose(0, 1)
        K = self.k_proj(x).view(seq_len, self.num_heads, self.head_dim).transpose(0, 1)
        V = self.v_proj(x).view(seq_len, self.num_heads, self.head_dim).transpose(0, 1)
        scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(self.head_dim)
        weights = F.softmax(scores, dim=-1)
        heads = torch.matmul(weights, V)
        concat = heads.transpose(0, 1).contiguous().view(seq_len, self.num_heads * self.head_dim)
        return self.out_proj(concat)
