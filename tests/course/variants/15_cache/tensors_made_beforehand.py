# Room for everything is made first, and filled.
import torch
from masks import causal_mask
from multi_head_attention import merge_heads, split_heads
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
    b, n = tokens.shape
    text = torch.zeros(b, n + num_new, dtype=tokens.dtype)
    text[:, :n] = tokens
    for place in range(n, n + num_new):
        text[:, place] = model(text[:, :place])[:, place - 1].argmax(dim=1)
    return text


def append_to_cache(cache, keys, values):
    if cache is None:
        return keys.clone(), values.clone()
    past = cache[0].shape[2]
    found = []
    for old, new in zip(cache, (keys, values), strict=True):
        b, h, n, d = new.shape
        room = new.new_empty(b, h, past + n, d)
        room[:, :, :past] = old
        room[:, :, past:] = new
        found.append(room)
    return tuple(found)


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
        past = 0 if cache is None else cache[0].shape[2]
        if past + x.shape[1] > self.context_length:
            raise ValueError(f"no room for {x.shape[1]} tokens after {past}")
        queries = split_heads(self.W_query(x), self.num_heads)
        keys = split_heads(self.W_key(x), self.num_heads)
        values = split_heads(self.W_value(x), self.num_heads)
        keys, values = append_to_cache(cache, keys, values)
        scores = queries @ keys.transpose(-1, -2) / keys.shape[-1] ** 0.5
        scores[:, :, ~causal_mask(x.shape[1], past + x.shape[1])] = -torch.inf
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return self.out_proj(merge_heads(weights @ values)), (keys, values)


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
    b, n = tokens.shape
    text = torch.zeros(b, n + num_new, dtype=tokens.dtype)
    text[:, :n] = tokens
    caches = None
    start = 0
    for place in range(n, n + num_new):
        scores, caches = model(text[:, start:place], start, caches)
        text[:, place] = scores[:, -1].argmax(dim=1)
        start = place
    return text
