# A mask that is added, and a softmax of one's own; caches are lists.
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
    for _ in range(num_new):
        best = model(tokens)[:, -1, :].sort(-1, descending=True).indices[:, 0]
        tokens = torch.cat((tokens, best[:, None]), 1)
    return tokens


def append_to_cache(cache, keys, values):
    if not cache:
        return [keys, values]
    past_keys, past_values = cache
    return [torch.cat((past_keys, keys), 2), torch.cat((past_values, values), 2)]


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
        queries = split_heads(self.W_query(x), self.num_heads)
        keys = split_heads(self.W_key(x), self.num_heads)
        values = split_heads(self.W_value(x), self.num_heads)
        keys, values = append_to_cache(cache, keys, values)
        num_past = keys.shape[2] - x.shape[1]
        if keys.shape[2] > self.context_length:
            raise ValueError(keys.shape)
        mask = causal_mask(x.shape[1], keys.shape[2])
        hiding = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
        scores = queries @ keys.transpose(2, 3) / keys.shape[-1] ** 0.5 + hiding
        raised = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        weights = raised / raised.sum(dim=-1, keepdim=True)
        context = merge_heads(self.dropout(weights) @ values)
        return self.out_proj(context), [keys, values]


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
