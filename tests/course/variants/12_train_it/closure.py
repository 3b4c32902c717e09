# A function that the optimizer calls.
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
    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs).flatten(end_dim=1), targets.flatten())
        loss.backward()
        return loss

    return optimizer.step(closure).item()
