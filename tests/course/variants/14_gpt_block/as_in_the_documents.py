# With shortcuts by name, and steps one by one.
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
        mean = x.mean(dim=2).unsqueeze(2)
        variance = x.var(dim=2, unbiased=False).unsqueeze(2)
        x = (x - mean) / (variance + self.eps) ** 0.5
        return torch.addcmul(self.bias, x, self.weight)


def gelu(x):
    root = torch.sqrt(torch.tensor(2.0 / torch.pi, dtype=x.dtype))
    return 0.5 * x * (1.0 + torch.tanh(root * (x + 0.044715 * torch.pow(x, 3))))


class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc = nn.Linear(features, 4 * features)
        self.c_proj = nn.Linear(4 * features, features)

    def forward(self, x):
        x = self.c_fc(x)
        x = gelu(x)
        return self.c_proj(x)


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
    turned = dict(state)
    for name in state:
        if any(name.endswith(f"{layer}.weight") for layer in ["c_attn", "c_fc", "c_proj"]):
            turned[name] = torch.transpose(state[name], 0, 1)
    return turned


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
