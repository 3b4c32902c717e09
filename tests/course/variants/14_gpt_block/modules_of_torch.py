# Torch's own norm and activation, in classes of one's own.
import torch
from multi_head_attention import MultiHeadAttention
import torch.nn.functional as F
from torch import nn


class LayerNorm(nn.LayerNorm):
    pass


def gelu(x):
    return F.gelu(x, approximate="tanh")


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

    def forward(self, x):
        shortcut = x
        x = self.ln_1(x)
        x = self.attn(x)
        x = x + shortcut
        shortcut = x
        x = self.ln_2(x)
        x = self.mlp(x)
        return x + shortcut


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, features, num_heads, num_layers, qkv_bias=False):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, features)
        self.wpe = nn.Embedding(context_length, features)
        self.h = nn.Sequential()
        for _ in range(num_layers):
            self.h.append(TransformerBlock(features, context_length, num_heads, qkv_bias))
        self.ln_f = LayerNorm(features)
        self.lm_head = nn.Linear(features, vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, tokens):
        num_tokens = tokens.size(1)
        x = self.h(self.wte(tokens) + self.wpe.weight[:num_tokens])
        return self.lm_head(self.ln_f(x))


def turn_layers(state):
    found = {name: tensor.clone() for name, tensor in state.items()}
    for name, tensor in found.items():
        if name.split(".")[-2] in ("c_attn", "c_fc", "c_proj"):
            found[name] = tensor.swapaxes(0, -1)
    return found


def from_gpt2(state):
    new = {}
    for name, tensor in state.items():
        if name.endswith("attn.c_attn.weight"):
            q, k, v = tensor.chunk(3, dim=1)
        elif name.endswith("attn.c_attn.bias"):
            q, k, v = tensor.chunk(3)
        elif name.endswith(("c_proj.weight", "c_fc.weight")):
            new[name.replace("attn.c_proj", "attn.out_proj")] = tensor.t().contiguous()
            continue
        else:
            new[name.replace("attn.c_proj", "attn.out_proj")] = tensor.clone()
            continue
        for layer, part in (("W_query", q), ("W_key", k), ("W_value", v)):
            new[name.replace("c_attn", layer)] = part.T if part.dim() == 2 else part
    return new


def numbers_at_gpt2_size(qkv_bias):
    with torch.device("meta"):
        model = GPT(50257, 1024, 768, 12, 12, qkv_bias)
    return sum(parameter.numel() for parameter in model.parameters())
