# `nn.MultiheadAttention` inside, its weights under the names of assignment 09.
import torch
from torch import nn


class LayerNorm(nn.LayerNorm):
    pass


def gelu(x):
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))


class FeedForward(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.c_fc = nn.Linear(features, 4 * features)
        self.c_proj = nn.Linear(4 * features, features)

    def forward(self, x):
        x = self.c_fc(x)
        x = gelu(x)
        return self.c_proj(x)


class Attention(nn.MultiheadAttention):
    def __init__(self, features, num_heads, qkv_bias):
        super().__init__(features, num_heads, batch_first=True)
        del self.in_proj_weight, self.in_proj_bias
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(features, features, bias=qkv_bias))

    @property
    def layers(self):
        return self.W_query, self.W_key, self.W_value

    @property
    def in_proj_weight(self):
        return torch.cat([layer.weight for layer in self.layers])

    @property
    def in_proj_bias(self):
        has_bias = self.W_query.bias is not None
        return torch.cat([layer.bias for layer in self.layers]) if has_bias else None

    def forward(self, x):
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, x, x, attn_mask=hidden, need_weights=False)[0]


class TransformerBlock(nn.Module):
    def __init__(self, features, context_length, num_heads, qkv_bias=False):
        super().__init__()
        self.ln_1 = LayerNorm(features)
        self.attn = Attention(features, num_heads, qkv_bias)
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
    found = {}
    for name in state:
        if "c_attn.weight" in name or "c_fc.weight" in name or "c_proj.weight" in name:
            found[name] = state[name].transpose(-1, -2).contiguous()
        else:
            found[name] = state[name]
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
