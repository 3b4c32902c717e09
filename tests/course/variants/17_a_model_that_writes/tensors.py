# Other ways, number 10.
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
    if not name.endswith("weight"):
        return 0.0
    if name.endswith("proj.weight"):
        return float(torch.tensor(0.02) / torch.tensor(2.0 * num_layers).sqrt())
    return 0.02


def loss_of(model, batch):
    logits, _ = model(batch[:, :-1])
    losses = [nn.functional.cross_entropy(one, text) for one, text in zip(logits, batch[:, 1:])]
    return torch.stack(losses).mean()


def next_token(logits, temperature, top_k, number):
    best = logits.topk(top_k).indices.sort().values
    ends = torch.softmax(logits[best] / temperature, dim=0).cumsum(dim=0)
    return int(best[torch.searchsorted(ends[:-1], number, right=True)])


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
    new = layer.keys_and_values(x)
    past = tuple(t[:, :, :0] for t in new) if cache is None else cache
    cache = [torch.cat([old, t], dim=2) for old, t in zip(past, new)]
    keys, values = (t.repeat_interleave(num_heads // t.shape[1], 1) for t in cache)
    queries = (
        layer.W_query(x).unflatten(-1, (num_heads, -1)).transpose(1, 2) / keys.shape[-1] ** 0.5
    )
    scores = torch.einsum("bhnd,bhtd->bhnt", queries, keys)
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(past[0].shape[2] + 1)
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return layer.out_proj((weights @ values).transpose(1, 2).flatten(2)), cache
