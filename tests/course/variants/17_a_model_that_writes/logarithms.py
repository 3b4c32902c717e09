# Other ways, number 6.
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
    *_, layer, kind = name.rsplit(".", 2)
    if kind == "bias":
        return 0.0
    return 0.02 * ((2 * num_layers) ** -0.5 if layer in ("out_proj", "c_proj") else 1)


def loss_of(model, batch):
    logits = model(batch[:, :-1])[0]
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), batch[:, 1:].reshape(-1))


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
    text = prompt.new_empty(len(prompt) + len(numbers))
    text[: len(prompt)] = prompt
    start, end, caches = 0, len(prompt), None
    for number in numbers:
        logits, caches = model(text[None, start:end], place=start, caches=caches)
        start, end = end, end + 1
        text[start] = next_token(logits[0, -1], temperature, top_k, number)
        if text[start] == stop:
            break
    return text[:end]


def attend(layer, x, cache, num_heads):
    queries = split_heads(layer.W_query(x), num_heads)
    cache = append_to_cache(cache, *layer.keys_and_values(x))
    keys, values = repeat_kv(cache[0], num_heads), repeat_kv(cache[1], num_heads)
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    mask = causal_mask(*scores.shape[2:])
    scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return layer.out_proj(merge_heads(weights @ values)), cache
