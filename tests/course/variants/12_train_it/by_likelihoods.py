# The negative logarithm of a likelihood, gathered.
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
    optimizer.zero_grad()
    logs = torch.log_softmax(model(inputs), dim=2)
    asked = targets.ne(-100)
    losses = -logs.gather(2, targets.where(asked, torch.zeros_like(targets)).unsqueeze(2)).squeeze(2)
    loss = losses[asked].mean()
    loss.backward()
    optimizer.step()
    return loss.item()
