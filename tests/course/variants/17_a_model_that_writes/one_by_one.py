# Other ways, number 7.
import math

import torch
from cache import append_to_cache
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
    logits = model(batch[:, 0:-1])[0]
    right = logits.gather(-1, batch[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (logits.logsumexp(dim=-1) - right).mean()


def next_token(logits, temperature, top_k, number):
    kept = torch.full_like(logits, float("-inf"))
    values, indices = torch.topk(logits, top_k)
    kept[indices] = values
    cumulative = torch.cumsum(nn.functional.softmax(kept / temperature, dim=0), 0)
    cumulative[indices.max() :] = 1.0
    return torch.nonzero(cumulative > number)[0].item()


def write(model, prompt, numbers, temperature, top_k, stop=None):
    logits, caches = model(prompt[None], 0, None)
    written, place = prompt.tolist(), len(prompt)
    for count, number in enumerate(numbers, 1):
        written.append(next_token(logits[0, -1], temperature, top_k, number))
        if written[-1] == stop or count == len(numbers):
            break
        logits, caches = model(torch.tensor([written[-1:]]), place, caches)
        place += 1
    return torch.tensor(written)


def attend(layer, x, cache, num_heads):
    queries = layer.W_query(x).unflatten(-1, (num_heads, -1)).transpose(1, 2)
    past = 0 if cache is None else cache[0].shape[2]
    keys, values = cache = append_to_cache(cache, *layer.keys_and_values(x))
    size = num_heads // keys.shape[1]
    rows = []
    for token in range(x.shape[1]):
        upto = past + token + 1
        one = queries[:, :, token : token + 1]
        seen = (t[:, :, :upto].repeat_interleave(size, dim=1) for t in (keys, values))
        rows.append(nn.functional.scaled_dot_product_attention(one, *seen))
    return layer.out_proj(torch.cat(rows, dim=2).transpose(1, 2).flatten(2)), cache
