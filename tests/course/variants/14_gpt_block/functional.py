# Functions of torch throughout.
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
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


def gelu(x):
    return F.gelu(x, approximate="tanh")


class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc, self.c_proj = (
            nn.Linear(features, features * 4),
            nn.Linear(features * 4, features),
        )

    def forward(self, x):
        hidden = F.linear(x, self.c_fc.weight, self.c_fc.bias)
        return F.linear(gelu(hidden), self.c_proj.weight, self.c_proj.bias)


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
    def turned(item):
        name, tensor = item
        _, _, last = name.rpartition(".c_")
        return (name, tensor.t() if "weight" in last and last != name else tensor)

    return dict(map(turned, state.items()))


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
