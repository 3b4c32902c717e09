import torch
import torch.nn as nn

GPT2_CONFIG = {
    "vocab_size": 50257,
    "context_length": 1024,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


class MultiHeadAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["emb_dim"]
        assert d % cfg["n_heads"] == 0
        self.n_heads = cfg["n_heads"]
        self.W_query = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.W_key = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.W_value = nn.Linear(d, d, bias=cfg["qkv_bias"])
        self.out_proj = nn.Linear(d, d)
        self.dropout = nn.Dropout(cfg["drop_rate"])
        n = cfg["context_length"]
        self.register_buffer("mask", torch.triu(torch.ones(n, n), diagonal=1))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (w(x).view(b, n, self.n_heads, -1).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = (q @ k.mT).masked_fill(self.mask[:n, :n].bool(), -torch.inf)
        w = self.dropout(torch.softmax(s / q.shape[-1] ** 0.5, dim=-1))
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, n, d))


class GPT2MultiHeadAttention(MultiHeadAttention):
    pass


def count_parameters(module):
    return sum(p.numel() for p in module.parameters())


block = GPT2MultiHeadAttention(GPT2_CONFIG)
print(f"{count_parameters(block):,} parameters")
