# Queries, keys and values in one product, of weights put together for it.
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
        mean = x.mean(dim=2).unsqueeze(2)
        variance = x.var(dim=2, unbiased=False).unsqueeze(2)
        x = (x - mean) / (variance + self.eps) ** 0.5
        return torch.addcmul(self.bias, x, self.weight)


def gelu(x):
    return x.mul(0.5).mul(torch.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x)).add(1))


class FeedForward(nn.Sequential):
    def __init__(self, features):
        super().__init__()
        self.add_module("c_fc", nn.Linear(features, 4 * features))
        self.add_module("gelu", nn.GELU("tanh"))
        self.add_module("c_proj", nn.Linear(4 * features, features))


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
        biases = [one.bias for one in layers if one.bias is not None]
        fused = F.linear(
            x, torch.cat([one.weight for one in layers]), torch.cat(biases) if biases else None
        )
        b, t, d = x.shape
        q, k, v = fused.view(b, t, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT / (d // self.num_heads) ** 0.5
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return self.attn.out_proj((weights @ v).transpose(1, 2).reshape(b, t, d))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, features, num_heads, num_layers, qkv_bias=False):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, features)
        self.wpe = nn.Embedding(context_length, features)
        self.h = nn.ModuleList()
        for _ in range(num_layers):
            self.h.append(TransformerBlock(features, context_length, num_heads, qkv_bias))
        self.ln_f = LayerNorm(features)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[-1]).expand_as(tokens)
        x = F.embedding(tokens, self.wte.weight) + F.embedding(places, self.wpe.weight)
        for number in range(len(self.h)):
            x = self.h[number](x)
        return F.linear(self.ln_f(x), self.wte.weight)


def turn_layers(state):
    found = {}
    for name, tensor in state.items():
        *_, layer, kind = ("", *name.split("."))
        found[name] = tensor.permute(1, 0) if layer.startswith("c_") and kind == "weight" else tensor
    return found


def from_gpt2(state):
    found = {name: state[name] for name in state if not name.startswith("h.")}
    numbers = {int(name.split(".")[1]) for name in state if name.startswith("h.")}
    for n in sorted(numbers):
        old = {
            name.removeprefix(f"h.{n}."): value
            for name, value in state.items()
            if name.startswith(f"h.{n}.")
        }
        d = len(old["ln_1.weight"])
        for start, layer in ((0, "W_query"), (d, "W_key"), (2 * d, "W_value")):
            found[f"h.{n}.attn.{layer}.weight"] = old["attn.c_attn.weight"][:, start : start + d].T
            found[f"h.{n}.attn.{layer}.bias"] = old["attn.c_attn.bias"][start : start + d]
        found[f"h.{n}.attn.out_proj.weight"] = old["attn.c_proj.weight"].transpose(0, 1)
        found[f"h.{n}.attn.out_proj.bias"] = old["attn.c_proj.bias"]
        for layer in ("c_fc", "c_proj"):
            found[f"h.{n}.mlp.{layer}.weight"] = old[f"mlp.{layer}.weight"].permute(1, 0)
            found[f"h.{n}.mlp.{layer}.bias"] = old[f"mlp.{layer}.bias"]
        for norm in ("ln_1", "ln_2"):
            for kind in ("weight", "bias"):
                found[f"h.{n}.{norm}.{kind}"] = old[f"{norm}.{kind}"]
    return found


def numbers_at_gpt2_size(qkv_bias):
    with torch.device("meta"):
        model = GPT(50257, 1024, 768, 12, 12, qkv_bias)
    return sum(parameter.numel() for parameter in model.parameters())
