# Functions of torch instead of layers called; the text grows by recursion.
import torch
import torch.nn.functional as F
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
    if num_new == 0:
        return tokens
    best = torch.max(model(tokens)[:, -1], dim=1).indices
    return generate(model, torch.cat((tokens, best.unsqueeze(1)), dim=1), num_new - 1)


def append_to_cache(cache, keys, values):
    pairs = zip(cache or (keys[:, :, :0], values[:, :, :0]), (keys, values), strict=True)
    return tuple(torch.cat(pair, dim=2) for pair in pairs)


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
            return F.linear(x, layer.weight, layer.bias).unflatten(2, (self.num_heads, -1))

        queries, new_keys, new_values = (
            heads(layer).transpose(1, 2) for layer in (self.W_query, self.W_key, self.W_value)
        )
        keys, values = append_to_cache(cache, new_keys, new_values)
        total = keys.shape[2]
        if total > self.context_length:
            raise ValueError("too long")
        mask = causal_mask(x.shape[1], total)
        scores = torch.matmul(queries, keys.transpose(-2, -1)) * keys.shape[-1] ** -0.5
        weights = F.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        weights = F.dropout(weights, self.dropout.p, self.training)
        mixed = torch.matmul(weights, values).transpose(1, 2).flatten(2)
        return F.linear(mixed, self.out_proj.weight, self.out_proj.bias), (keys, values)


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


def generate_cached(model, tokens, num_new):
    def go_on(written, unread, caches, left):
        if left == 0:
            return written
        scores, caches = model(unread, written.shape[1] - unread.shape[1], caches)
        best = torch.max(scores[:, -1], dim=1, keepdim=True).indices
        return go_on(torch.cat((written, best), dim=1), best, caches, left - 1)

    return go_on(tokens, tokens, None, num_new)
