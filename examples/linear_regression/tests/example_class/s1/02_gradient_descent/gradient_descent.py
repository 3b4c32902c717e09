# A student who has everything right, in ways of their own.
import torch
from normal_equations import mean_squared_error, predict
from torch import Tensor, nn


def standardize(x: Tensor) -> Tensor:
    centred = x - x.mean(dim=0)
    return centred / centred.square().mean(dim=0).sqrt()


def gradient(X: Tensor, y: Tensor, w: Tensor) -> Tensor:
    w = w.clone().requires_grad_()
    mean_squared_error(y, predict(X, w)).backward()
    return w.grad


def step(w: Tensor, grad: Tensor, learning_rate: float) -> Tensor:
    return torch.add(w, grad, alpha=-learning_rate)


def fit(X: Tensor, y: Tensor, learning_rate: float, steps: int) -> Tensor:
    w = torch.zeros(X.shape[1], dtype=X.dtype)
    while steps > 0:
        w = step(w, gradient(X, y, w), learning_rate)
        steps -= 1
    return w


class LinearRegression(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_features))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("ij,j->i", x, self.weight) + self.bias


class Line(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.layer = nn.Linear(num_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).squeeze(-1)


def train(
    model: nn.Module, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> Tensor:
    losses = torch.zeros(steps)
    for i in range(steps):
        loss = mean_squared_error(y, model(x))
        losses[i] = loss.item()
        grads = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, grad in zip(model.parameters(), grads, strict=True):
                parameter -= learning_rate * grad
    return losses
