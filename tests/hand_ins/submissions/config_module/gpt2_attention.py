import torch
from torch import nn
import config as C

GPT2_CONFIG = dict(
    d_in=C.EMB_DIM, d_out=C.EMB_DIM, context_length=C.CTX, num_heads=C.N_HEADS,
    dropout=C.DROP_RATE, qkv_bias=C.QKV_BIAS,
)


def count_parameters(module):
    return sum(torch.numel(p) for p in module.parameters())


class GPT2MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout=C.DROP_RATE, qkv_bias=C.QKV_BIAS):
        super().__init__()
        assert d_out % num_heads == 0, "num_heads must divide d_out"
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        bsz, seq, _ = x.size()
        split = lambda t: t.view(bsz, seq, self.num_heads, -1).transpose(1, 2)
        q, k, v = split(self.W_query(x)), split(self.W_key(x)), split(self.W_value(x))
        att = q.matmul(k.transpose(2, 3)).div(k.size(-1) ** 0.5)
        att = att.masked_fill(self.mask[:seq, :seq].eq(0), float("-inf"))
        att = self.dropout(att.softmax(-1))
        return self.out_proj(att.matmul(v).transpose(1, 2).reshape(bsz, seq, -1))
