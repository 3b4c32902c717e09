# Other ways, number 7.
import math

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
