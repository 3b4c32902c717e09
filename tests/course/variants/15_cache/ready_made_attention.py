# Torch's own attention, with the mask of truth values.
import torch
import torch.nn.functional as F
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
        self.p = dropout

    def forward(self, x, cache=None):
        queries, keys, values = (
            split_heads(layer(x), self.num_heads)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        cache = append_to_cache(cache, keys, values)
        total = cache[0].shape[2]
        if total > self.context_length:
            raise ValueError(total)
        mask = causal_mask(x.shape[1], total)
        p = self.p if self.training else 0.0
        mixed = F.scaled_dot_product_attention(queries, *cache, attn_mask=mask, dropout_p=p)
        return self.out_proj(merge_heads(mixed)), cache


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
    scores, caches = model(tokens)
    for step in range(num_new):
        best = scores[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, best), 1)
        if step < num_new - 1:
            scores, caches = model(best, tokens.shape[1] - 1, caches)
    return tokens
