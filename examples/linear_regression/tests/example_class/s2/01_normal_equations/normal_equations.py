# A student with mistakes that misconceptions.toml names.
import torch
from torch import Tensor


def design_matrix(x: Tensor) -> Tensor:
    return torch.hstack([x, torch.ones(len(x), 1, dtype=x.dtype)])


def predict(X: Tensor, w: Tensor) -> Tensor:
    return w[0] + X @ w


def mean_squared_error(y: Tensor, y_hat: Tensor) -> Tensor:
    return ((y_hat - y) ** 2).sum()


def solve_normal_equations(X: Tensor, y: Tensor) -> Tensor:
    return (1 / (X.T @ X)) @ X.T @ y


def r_squared(y: Tensor, y_hat: Tensor) -> Tensor:
    return torch.corrcoef(torch.stack([y_hat, y]))[0, 1].square()
