# In pieces: split, put together again, and a list for the result.
import torch
from multi_head_attention import *
from torch import nn


def inputs_and_targets(texts):
    return [texts[..., :-1], texts[..., 1:]]


class AttentionBlock(nn.Module):
    def __init__(self, features, context_length, num_heads):
        super(AttentionBlock, self).__init__()
        self.attention = MultiHeadAttention(
            features, features, context_length, num_heads=num_heads, dropout=0.0
        )
        self.eye = nn.Identity()

    def forward(self, x):
        return sum([self.eye(x), self.attention(x)])


class LastLetterModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Embedding(26, 26)
        nn.init.zeros_(self.scores.weight)

    def forward(self, inputs):
        return self.scores(inputs)


class GradientDescent(torch.optim.SGD):
    def __init__(self, model, learning_rate):
        super().__init__(model.parameters(), lr=learning_rate)


def training_step(model, optimizer, inputs, targets):
    known = targets != -100
    loss = nn.CrossEntropyLoss()(model(inputs)[known], targets[known])
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.tolist()


def head_weights(queries, keys, num_heads):
    scores = head_scores(split_heads(queries, num_heads), split_heads(keys, num_heads))
    exps = torch.exp(scores / (queries.shape[-1] / num_heads) ** 0.5).tril()
    return exps / exps.sum(dim=-1, keepdim=True)


def switch_off_head(weight, head, num_heads):
    pieces = list(weight.chunk(num_heads, dim=1))
    pieces[head] = torch.zeros_like(pieces[head])
    return torch.cat(pieces, dim=1)
