# A student who is half done with the first assignment, and has not begun the second.
import torch
from torch import Tensor


def design_matrix(x: Tensor) -> Tensor:
    return torch.cat([torch.ones(x.shape[0], 1), x], dim=1)


def predict(X: Tensor, w: Tensor) -> Tensor:
    return torch.mv(X, w)


def mean_squared_error(y: Tensor, y_hat: Tensor) -> Tensor:
    return (y - y_hat).pow(2).mean()


def solve_normal_equations(X: Tensor, y: Tensor) -> Tensor:
    raise NotImplementedError("01_normal_equations/solve_normal_equations: not attempted yet")
