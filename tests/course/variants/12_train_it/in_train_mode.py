# Train mode, gradients switched on, gradients emptied one by one.
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
    model.train()
    with torch.enable_grad():
        scores = model(inputs)
        loss = nn.functional.cross_entropy(
            scores.reshape(-1, scores.size(-1)), targets.reshape(-1), ignore_index=-100
        )
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    optimizer.step()
    return loss.detach().cpu().item()
