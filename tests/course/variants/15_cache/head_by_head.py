# A loop over the heads; a loop over the texts.
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
    written = []
    for text in tokens.split(1):
        for _ in range(num_new):
            text = torch.cat([text, model(text)[0, -1].argmax().reshape(1, 1)], dim=1)
        written.append(text)
    return torch.cat(written)


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
        queries = self.W_query(x).chunk(self.num_heads, dim=-1)
        keys = torch.stack(self.W_key(x).chunk(self.num_heads, dim=-1), dim=1)
        values = torch.stack(self.W_value(x).chunk(self.num_heads, dim=-1), dim=1)
        keys, values = append_to_cache(cache, keys, values)
        num_tokens = keys.shape[2]
        if num_tokens > self.context_length:
            raise ValueError("more tokens than fit")
        hidden = ~causal_mask(x.shape[1], num_tokens)
        found = []
        for head, query in enumerate(queries):
            key, value = keys[:, head], values[:, head]
            scores = torch.bmm(query, key.transpose(1, 2)) / query.shape[-1] ** 0.5
            weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
            found.append(torch.bmm(self.dropout(weights), value))
        return self.out_proj(torch.cat(found, dim=-1)), (keys, values)


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
    caches, place = None, 0
    for _ in range(num_new):
        # The text, too, is read token by token.
        while place < tokens.shape[1]:
            scores, caches = model(tokens[:, place : place + 1], place, caches)
            place += 1
        tokens = torch.cat([tokens, scores[:, -1].argmax(-1, keepdim=True)], dim=1)
    return tokens
