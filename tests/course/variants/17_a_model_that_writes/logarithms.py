# Other ways, number 6.
import torch
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
        total += chance
        if total > number:
            return place
    return place


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
