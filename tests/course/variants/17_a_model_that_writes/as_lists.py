# Other ways, number 1.
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
    *_, layer, kind = name.rsplit(".", 2)
    if kind == "bias":
        return 0.0
    return 0.02 * ((2 * num_layers) ** -0.5 if layer in ("out_proj", "c_proj") else 1)


def loss_of(model, batch):
    inputs, targets = batch[:, :-1], batch[:, 1:]
    logits, _ = model(inputs)
    return nn.functional.cross_entropy(logits.transpose(1, 2), targets)


def next_token(logits, temperature, top_k, number):
    best = logits.topk(top_k).indices.sort().values
    ends = torch.softmax(logits[best] / temperature, dim=0).cumsum(dim=0)
    return int(best[torch.searchsorted(ends[:-1], number, right=True)])


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
    keys, values = layer.keys_and_values(x)
    if cache is not None:
        keys, values = (torch.cat(both, dim=2) for both in zip(cache, (keys, values)))
    num_new, size = x.shape[1], num_heads // keys.shape[1]
    queries = layer.W_query(x).unflatten(-1, (num_heads, -1))
    found = []
    for head in range(num_heads):
        scores = queries[:, :, head] @ keys[:, head // size].mT / keys.shape[-1] ** 0.5
        past = keys.shape[2] - num_new
        future = torch.ones(num_new, keys.shape[2]).triu(past + 1).bool()
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        found.append(weights @ values[:, head // size])
    return layer.out_proj(torch.cat(found, dim=-1)), (keys, values)
