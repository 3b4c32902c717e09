# A sum over texts, divided at the end.
import torch
from torch import nn


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
    number = int((targets != -100).sum())
    optimizer.zero_grad()
    total = sum(
        nn.functional.cross_entropy(scores, answers, reduction="sum")
        for scores, answers in zip(model(inputs), targets)
    )
    loss = total / number
    loss.backward()
    optimizer.step()
    return float(loss.detach())
