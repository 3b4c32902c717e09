# Other ways, number 8.
import math

import torch
from grouped_queries import GroupedQueryAttention
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
    match name.split(".")[-2:]:
        case [_, "bias"]:
            return 0.0
        case ["out_proj" | "c_proj", "weight"]:
            return 0.02 / math.sqrt(2 * num_layers)
        case _:
            return 0.02


def loss_of(model, batch):
    inputs, targets = batch[:, :-1], batch[:, 1:]
    logits, _ = model(inputs)
    return nn.functional.cross_entropy(logits.transpose(1, 2), targets)


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
    keys, values = layer.keys_and_values(x)
    past = 0
    if cache is not None:
        past = cache[0].size(2)
        keys = torch.cat((cache[0], keys), dim=2)
        values = torch.cat((cache[1], values), dim=2)
    total = past + x.size(1)
    allowed = torch.ones(total, total, dtype=torch.bool).tril()[past:]
    wide = [
        t[:, :, None].expand(-1, -1, num_heads // t.size(1), -1, -1).flatten(1, 2)
        for t in (keys, values)
    ]
    query = split_heads(layer.W_query(x), num_heads)
    weights = (query @ wide[0].mT * wide[0].size(-1) ** -0.5).where(allowed, -torch.inf).softmax(-1)
    return layer.out_proj(merge_heads(weights @ wide[1])), (keys, values)
