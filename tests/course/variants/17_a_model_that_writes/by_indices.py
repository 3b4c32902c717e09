# Other ways, number 3.
import math

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
    match name.split(".")[-2:]:
        case [_, "bias"]:
            return 0.0
        case ["out_proj" | "c_proj", "weight"]:
            return 0.02 / math.sqrt(2 * num_layers)
        case _:
            return 0.02


def loss_of(model, batch):
    logits, _ = model(batch[:, :-1])
    losses = [nn.functional.cross_entropy(one, text) for one, text in zip(logits, batch[:, 1:])]
    return torch.stack(losses).mean()


def next_token(logits, temperature, top_k, number):
    kept = torch.full_like(logits, float("-inf"))
    values, indices = torch.topk(logits, top_k)
    kept[indices] = values
    cumulative = torch.cumsum(nn.functional.softmax(kept / temperature, dim=0), 0)
    cumulative[indices.max() :] = 1.0
    return torch.nonzero(cumulative > number)[0].item()


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
    kept = append_to_cache(cache, *layer.keys_and_values(x))
    group = torch.arange(num_heads) // (num_heads // kept[0].shape[1])
    queries = split_heads(layer.W_query(x), num_heads)
    mask = causal_mask(x.shape[1], kept[0].shape[2])
    found = nn.functional.scaled_dot_product_attention(
        queries, kept[0][:, group], kept[1][:, group], attn_mask=mask
    )
    return layer.out_proj(merge_heads(found)), kept
