# Torch's function for several heads with the layer's weights.
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
    root = torch.sqrt(torch.tensor(2.0 / torch.pi, dtype=x.dtype))
    return 0.5 * x * (1.0 + torch.tanh(root * (x + 0.044715 * torch.pow(x, 3))))


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
        self.num_heads = num_heads

    def attend(self, x):
        attn, (_, t, d) = self.attn, x.shape
        layers = (attn.W_query, attn.W_key, attn.W_value)
        bias = None if layers[0].bias is None else torch.cat([one.bias for one in layers])
        found, _ = F.multi_head_attention_forward(
            *(x.transpose(0, 1),) * 3,
            d,
            self.num_heads,
            torch.cat([one.weight for one in layers]),
            bias,
            None,
            None,
            False,
            0.0,
            attn.out_proj.weight,
            attn.out_proj.bias,
            need_weights=False,
            attn_mask=torch.ones(t, t, dtype=torch.bool).triu(1),
        )
        return found.transpose(0, 1)

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


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
    names = [name for name in state if ".c_" in name and name.endswith("weight")]
    return {**state, **{name: state[name].mT for name in names}}


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
