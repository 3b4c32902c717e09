# Other ways, number 5.
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
    if not name.endswith("weight"):
        return 0.0
    if name.endswith("proj.weight"):
        return float(torch.tensor(0.02) / torch.tensor(2.0 * num_layers).sqrt())
    return 0.02


def loss_of(model, batch):
    logits = model(batch[:, 0:-1])[0]
    right = logits.gather(-1, batch[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (logits.logsumexp(dim=-1) - right).mean()


def next_token(logits, temperature, top_k, number):
    scaled = logits.div(temperature)
    hidden = scaled.argsort(descending=True)[top_k:]
    scaled = scaled.index_fill(0, hidden, -torch.inf)
    ends = scaled.double().softmax(0).cumsum(0)
    return int((ends > number).int().argmax())


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
    cache = append_to_cache(cache, *layer.keys_and_values(x))
    found = nn.functional.scaled_dot_product_attention(
        split_heads(layer.W_query(x), num_heads),
        *cache,
        attn_mask=causal_mask(x.shape[1], cache[0].shape[2]),
        enable_gqa=True,
    )
    return layer.out_proj(merge_heads(found)), cache
