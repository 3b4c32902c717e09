# A student with mistakes that misconceptions.toml names.
import torch
from torch import Tensor, nn


def standardize(x: Tensor) -> Tensor:
    return (x - x.mean(dim=0)) / x.std(dim=0)


def gradient(X: Tensor, y: Tensor, w: Tensor) -> Tensor:
    return X.T @ (X @ w - y) / len(y)


def step(w: Tensor, grad: Tensor, learning_rate: float) -> Tensor:
    return w + learning_rate * grad


def fit(X: Tensor, y: Tensor, learning_rate: float, steps: int) -> Tensor:
    w = torch.zeros(X.shape[1], dtype=X.dtype)
    for _ in range(steps):
        w = step(w, gradient(X, y, w), learning_rate)
    return w


class LinearRegression(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_features))
        self.bias = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Line(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.layer = nn.Linear(num_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).squeeze(-1)


def train(
    model: nn.Module, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> Tensor:
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)
