# Torch's ready-made attention with the layer's weights.
import re
from collections import OrderedDict

import torch
from multi_head_attention import MultiHeadAttention
import torch.nn.functional as F
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def gelu(x):
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))


class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc = nn.Linear(features, 4 * features)
        self.act = nn.GELU(approximate="tanh")
        self.c_proj = nn.Linear(4 * features, features)

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


class TransformerBlock(nn.Module):
    def __init__(self, features, context_length, num_heads, qkv_bias=False):
        super().__init__()
        self.ln_1 = LayerNorm(features)
        self.attn = MultiHeadAttention(features, features, context_length, 0.0, num_heads, qkv_bias)
        self.ln_2 = LayerNorm(features)
        self.mlp = FeedForward(features)
        self.num_heads = num_heads

    def attend(self, x):
        layers = (self.attn.W_query, self.attn.W_key, self.attn.W_value)
        q, k, v = (one(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for one in layers)
        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn.out_proj(found.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, features, num_heads, num_layers, qkv_bias=False):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, features)
        self.wpe = nn.Embedding(context_length, features)
        blocks = [
            TransformerBlock(features, context_length, num_heads, qkv_bias)
            for _ in range(num_layers)
        ]
        self.h = nn.ModuleList(blocks)
        self.ln_f = LayerNorm(features)
        self.head = nn.Linear(features, vocab_size, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


def turn_layers(state):
    stays = ("wte", "wpe", "ln_", "bias")
    return {k: v if any(part in k for part in stays) else v.T for k, v in state.items()}


def from_gpt2(state):
    found = OrderedDict()
    for name, tensor in state.items():
        if re.search(r"\.c_\w+\.weight$", name):
            tensor = torch.einsum("io->oi", tensor)
        if ".c_attn." in name:
            size = len(tensor) // 3
            for layer, piece in zip(["W_query", "W_key", "W_value"], tensor.split(size)):
                found[name.replace("c_attn", layer)] = piece
        else:
            found[re.sub(r"attn\.c_proj", "attn.out_proj", name)] = tensor
    return found


def numbers_at_gpt2_size(qkv_bias):
    with torch.device("meta"):
        model = GPT(50257, 1024, 768, 12, 12, qkv_bias)
    return sum(parameter.numel() for parameter in model.parameters())
