# Einstein's sums wherever there is a product; one loop more than needed at the end.
import torch
from masks import causal_mask
from torch import nn


class SumModel(nn.Module):
    def __init__(self, vocab_size, context_length, features):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.head = nn.Linear(features, vocab_size)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(x.cumsum(dim=1))


def generate(model, tokens, num_new):
    for _ in range(num_new):
        best = model(tokens)[:, -1, :].argmax(-1)
        tokens = torch.cat((tokens, best[:, None]), 1)
    return tokens


def append_to_cache(cache, keys, values):
    if cache is None:
        return keys, values
    return torch.cat((cache[0], keys), dim=-2), torch.cat((cache[1], values), dim=-2)


class CachedAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.context_length, self.num_heads = context_length, num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, cache=None):
        def heads(layer):
            weight = layer.weight.unflatten(0, (self.num_heads, -1))
            found = torch.einsum("bti,hfi->bhtf", x, weight)
            if layer.bias is None:
                return found
            return found + layer.bias.unflatten(0, (self.num_heads, 1, -1))

        queries = heads(self.W_query)
        keys, values = append_to_cache(cache, heads(self.W_key), heads(self.W_value))
        num_past = keys.shape[2] - x.shape[1]
        if num_past + x.shape[1] > self.context_length:
            raise ValueError
        scores = torch.einsum("bhqf,bhkf->bhqk", queries, keys) / keys.shape[3] ** 0.5
        hidden = torch.logical_not(causal_mask(x.shape[1], keys.shape[2]))
        weights = self.dropout(scores.masked_fill(hidden, float("-inf")).softmax(3))
        mixed = torch.einsum("bhqk,bhkf->bqhf", weights, values).flatten(2)
        weight, bias = self.out_proj.weight, self.out_proj.bias
        return torch.einsum("bqf,gf->bqg", mixed, weight) + bias, (keys, values)


class Model(nn.Module):
    def __init__(self, vocab_size, context_length, features, num_heads, num_layers=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.layers = nn.ModuleList(
            CachedAttention(features, features, context_length, 0.0, num_heads)
            for _ in range(num_layers)
        )
        self.head = nn.Linear(features, vocab_size)

    def forward(self, tokens, place=0, caches=None):
        places = torch.arange(place, place + tokens.shape[1])
        x = self.tokens(tokens) + self.places(places)
        kept = []
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            found, cache = layer(x, cache)
            x = x + found
            kept.append(cache)
        return self.head(x), kept


@torch.no_grad()
def generate_cached(model, tokens, num_new):
    new, place, caches = tokens, 0, None
    for _ in range(num_new):
        scores, caches = model(new, place, caches)
        place = caches[0][0].shape[2]
        new = scores[:, -1:].argmax(-1)
        tokens = torch.hstack((tokens, new))
    return tokens
