# The loss in two steps.
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
    batch_size, num_tokens = inputs.shape
    logs = nn.LogSoftmax(dim=-1)(model(inputs))
    criterion = nn.NLLLoss(ignore_index=-100)
    loss = criterion(logs.view(batch_size * num_tokens, -1), targets.contiguous().view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()
