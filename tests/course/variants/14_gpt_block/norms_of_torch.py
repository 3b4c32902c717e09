# `nn.LayerNorm` itself in the blocks.
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
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def gelu(x):
    root = torch.sqrt(torch.tensor(2.0 / torch.pi, dtype=x.dtype))
    return 0.5 * x * (1.0 + torch.tanh(root * (x + 0.044715 * torch.pow(x, 3))))


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
        self.ln_1 = nn.LayerNorm(features)
        self.attn = MultiHeadAttention(features, features, context_length, 0.0, num_heads, qkv_bias)
        self.ln_2 = nn.LayerNorm(features)
        self.mlp = FeedForward(features)

    def forward(self, x):
        y = x + self.attn(self.ln_1(x))
        return y + self.mlp(self.ln_2(y))


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
    keys = list(state.keys())
    values = [
        torch.stack(list(state[key].unbind(1))) if ".c_" in key and "weight" in key else state[key]
        for key in keys
    ]
    return dict(zip(keys, values))


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
