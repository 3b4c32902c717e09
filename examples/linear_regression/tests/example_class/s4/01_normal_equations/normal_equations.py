# A student whose code stops with exceptions, or gives what no known mistake explains.
import torch
from torch import Tensor


def design_matrix(x: Tensor) -> Tensor:
    return torch.cat([torch.ones(x.shape[0]), x], dim=1)


def predict(X: Tensor, w: Tensor) -> Tensor:
    return torch.stack([sum(a * b for a, b in zip(row, w)) for row in X])


def mean_squared_error(y: Tensor, y_hat: Tensor) -> Tensor:
    return ((y - y_hat) ** 3).mean()


def solve_normal_equations(X: Tensor, y: Tensor) -> Tensor:
    return torch.linalg.inv(X) @ y


def r_squared(y: Tensor, y_hat: Tensor) -> Tensor:
    left = y - y_hat
    return 1 - left @ left / ((y - y.mean()) @ (y - y.mean()))
