# Other ways, number 4.
import math
import re

import torch
from cache import append_to_cache
from grouped_queries import GroupedQueryAttention
from masks import causal_mask
from multi_head_attention import merge_heads, split_heads
from torch import nn


class SumModel(nn.Module):
    def __init__(self, vocab_size, context_length, features):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.head = nn.Linear(features, vocab_size)

    def forward(self, tokens, place=0, caches=None):
        places = torch.arange(place, place + tokens.shape[1])
        x = (self.tokens(tokens) + self.places(places)).cumsum(dim=1)
        x = x if caches is None else x + caches[0]
        return self.head(x), [x[:, -1:]]


def initial_std(name, num_layers):
    is_last = re.search(r"(out|c)_proj[.]weight$", name)
    is_bias = re.search(r"[.]bias$", name)
    return 0.0 if is_bias else 0.02 / (2 * num_layers) ** 0.5 if is_last else 0.02


def loss_of(model, batch):
    logits = model(batch[:, :-1])[0]
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), batch[:, 1:].reshape(-1))


def next_token(logits, temperature, top_k, number):
    powers = [math.exp((x - logits.max().item()) / temperature) for x in logits.tolist()]
    allowed = set(logits.argsort(descending=True)[:top_k].tolist())
    powers = [p if i in allowed else 0.0 for i, p in enumerate(powers)]
    left = number * sum(powers)
    for i, p in enumerate(powers):
        if left < p:
            return i
        left -= p
    return max(allowed)


def write(model, prompt, numbers, temperature, top_k, stop=None):
    text, seen, caches = prompt.clone(), 0, None
    for number in numbers:
        logits, caches = model(text[seen:].unsqueeze(0), seen, caches)
        seen = len(text)
        token = next_token(logits[0, -1], temperature, top_k, number)
        text = torch.cat((text, torch.tensor([token])))
        if token == stop:
            return text
    return text


def attend(layer, x, cache, num_heads):
    keys, values = cache = append_to_cache(cache, *layer.keys_and_values(x))
    queries = split_heads(layer.W_query(x), num_heads)
    groups = queries.unflatten(1, (keys.shape[1], -1))
    scores = torch.einsum("bgqnd,bgtd->bgqnt", groups, keys) / keys.shape[-1] ** 0.5
    mask = causal_mask(x.shape[1], keys.shape[2])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    found = torch.einsum("bgqnt,bgtd->bgqnd", weights, values)
    return layer.out_proj(merge_heads(found.flatten(1, 2))), cache
