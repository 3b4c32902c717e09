# Einstein's sums wherever there is a product.
import re
from collections import OrderedDict

import torch
from multi_head_attention import MultiHeadAttention
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        size = x.shape[-1]
        away = x - torch.einsum("btf->bt", x)[..., None] / size
        variance = torch.einsum("btf,btf->bt", away, away)[..., None] / size
        return (
            torch.einsum("btf,f->btf", away / (variance + self.eps).sqrt(), self.weight) + self.bias
        )


def gelu(x):
    return x.mul(0.5).mul(torch.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x)).add(1))


class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc = nn.Linear(features, 4 * features)
        self.c_proj = nn.Linear(4 * features, features)

    def forward(self, x):
        hidden = gelu(torch.einsum("btf,hf->bth", x, self.c_fc.weight) + self.c_fc.bias)
        return torch.einsum("bth,fh->btf", hidden, self.c_proj.weight) + self.c_proj.bias


class TransformerBlock(nn.Module):
    def __init__(self, features, context_length, num_heads, qkv_bias=False):
        super().__init__()
        self.ln_1 = LayerNorm(features)
        self.attn = MultiHeadAttention(features, features, context_length, 0.0, num_heads, qkv_bias)
        self.ln_2 = LayerNorm(features)
        self.mlp = FeedForward(features)

    def forward(self, x):
        for norm, part in ((self.ln_1, self.attn), (self.ln_2, self.mlp)):
            x = torch.add(x, part(norm(x)))
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, features, num_heads, num_layers, qkv_bias=False):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, features)
        self.wpe = nn.Embedding(context_length, features)
        self.h = nn.ModuleList(
            [
                TransformerBlock(features, context_length, num_heads, qkv_bias)
                for _ in range(num_layers)
            ]
        )
        self.ln_f = LayerNorm(features)

    def forward(self, tokens):
        x = self.wte.weight[tokens] + self.wpe.weight[torch.arange(tokens.shape[1])]
        for block in self.h:
            x = block(x)
        return torch.einsum("btf,vf->btv", self.ln_f(x), self.wte.weight)


def turn_layers(state):
    return {
        name: torch.einsum("io->oi", tensor) if ".c_" in name and tensor.dim() == 2 else tensor
        for name, tensor in state.items()
    }


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
