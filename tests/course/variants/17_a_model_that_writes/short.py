# Other ways, number 9.
import re

import torch
from cache import append_to_cache
from grouped_queries import GroupedQueryAttention, repeat_kv
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
    logits, _ = model(batch[:, :-1])
    logs = torch.log_softmax(logits, dim=-1)
    return -logs.gather(2, batch[:, 1:, None]).mean()


def next_token(logits, temperature, top_k, number):
    scaled = logits.div(temperature)
    hidden = scaled.argsort(descending=True)[top_k:]
    scaled = scaled.index_fill(0, hidden, -torch.inf)
    ends = scaled.double().softmax(0).cumsum(0)
    return int((ends > number).int().argmax())


def write(model, prompt, numbers, temperature, top_k, stop=None):
    def step(text, unread, place, caches, left):
        logits, caches = model(unread[None], place, caches)
        token = torch.tensor([next_token(logits[0, -1], temperature, top_k, left[0])])
        text = torch.hstack([text, token])
        if len(left) == 1 or token.item() == stop:
            return text
        return step(text, token, place + len(unread), caches, left[1:])

    return step(prompt, prompt, 0, None, list(numbers))


def attend(layer, x, cache, num_heads):
    cache = append_to_cache(cache, *layer.keys_and_values(x))
    q, (k, v) = split_heads(layer.W_query(x), num_heads), (repeat_kv(t, num_heads) for t in cache)
    mask = causal_mask(q.shape[2], k.shape[2])
    weights = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(~mask, -1e9).softmax(-1)
    return layer.out_proj(merge_heads(weights @ v)), cache
