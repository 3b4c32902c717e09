# Other ways, number 2.
import math

import torch
from grouped_queries import GroupedQueryAttention
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
    if "bias" in name:
        return 0.0
    std = 0.02
    if "out_proj" in name or "c_proj" in name:
        std *= 1 / math.sqrt(num_layers * 2)
    return std


def loss_of(model, batch):
    logits, _ = model(batch[:, :-1])
    logs = torch.log_softmax(logits, dim=-1)
    return -logs.gather(2, batch[:, 1:, None]).mean()


def next_token(logits, temperature, top_k, number):
    threshold = torch.sort(logits, descending=True).values[top_k - 1]
    chances = torch.softmax(logits / temperature, dim=-1)
    chances = torch.where(logits >= threshold, chances, torch.zeros_like(chances))
    chances = chances / chances.sum()
    total = 0.0
    for place, chance in enumerate(chances.tolist()):
        if chance:
            last = place
        total += chance
        if total > number:
            return place
    return last


def write(model, prompt, numbers, temperature, top_k, stop=None):
    caches, new = None, []
    for number in numbers:
        read = torch.tensor([new[-1:]]) if new else prompt.reshape(1, -1)
        place = len(prompt) + len(new) - read.shape[1]
        logits, caches = model(read, place, caches)
        new.append(next_token(logits[0][-1], temperature, top_k, number))
        if stop is not None and new[-1] == stop:
            break
    return torch.cat([prompt, torch.tensor(new, dtype=prompt.dtype)])


def attend(layer, x, cache, num_heads):
    batch_size, num_new, _ = x.shape
    new = layer.keys_and_values(x)
    kept = new if cache is None else tuple(torch.cat(both, 2) for both in zip(cache, new))
    queries = layer.W_query(x).view(batch_size, num_new, num_heads, -1).transpose(1, 2)
    keys, values = (t.repeat_interleave(num_heads // t.shape[1], dim=1) for t in kept)
    scores = queries @ keys.transpose(2, 3)
    places = torch.arange(keys.shape[2])
    scores = scores.masked_fill(places > places[-num_new:, None], -torch.inf)
    weights = torch.softmax(scores / math.sqrt(keys.shape[-1]), dim=-1)
    mixed = (weights @ values).transpose(1, 2).reshape(batch_size, num_new, -1)
    return layer.out_proj(mixed), kept
