# A student who has everything right, in ways of their own.
import torch
from torch import Tensor


def design_matrix(x: Tensor) -> Tensor:
    return torch.nn.functional.pad(x, (1, 0), value=1.0)


def predict(X: Tensor, w: Tensor) -> Tensor:
    return (X * w).sum(dim=-1)


def mean_squared_error(y: Tensor, y_hat: Tensor) -> Tensor:
    return torch.nn.functional.mse_loss(y_hat, y)


def solve_normal_equations(X: Tensor, y: Tensor) -> Tensor:
    return torch.linalg.lstsq(X, y[:, None]).solution[:, 0]


def r_squared(y: Tensor, y_hat: Tensor) -> Tensor:
    return 1 - mean_squared_error(y, y_hat) / y.var(correction=0)
