# The layer of assignment 09, with another forward; its mask is cut.
import torch
from multi_head_attention import MultiHeadAttention, head_scores, merge_heads, split_heads
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


@torch.inference_mode()
def generate(model, tokens, num_new):
    for _ in range(num_new):
        tokens = torch.column_stack((tokens, model(tokens)[:, -1].argmax(-1)))
    return tokens.clone()


def append_to_cache(cache, keys, values):
    if cache is None:
        return keys, values
    return torch.cat((cache[0], keys), dim=-2), torch.cat((cache[1], values), dim=-2)


class CachedAttention(MultiHeadAttention):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, num_heads, qkv_bias)

    def forward(self, x, cache=None):
        queries, keys, values = (
            split_heads(layer(x), self.num_heads)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        keys, values = append_to_cache(cache, keys, values)
        end = keys.shape[2]
        start = end - x.shape[1]
        if end > len(self.mask):
            raise ValueError("the cache is full")
        scores = head_scores(queries, keys).masked_fill(self.mask[start:end, :end], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
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
    scores, caches = model(tokens)
    for step in range(num_new):
        best = scores[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, best), 1)
        if step < num_new - 1:
            scores, caches = model(best, tokens.shape[1] - 1, caches)
    return tokens
