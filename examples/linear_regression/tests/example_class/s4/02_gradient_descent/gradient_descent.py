# A student who has written two functions of the second assignment.
from torch import Tensor


def standardize(x: Tensor) -> Tensor:
    return (x - x.mean(dim=0)) / x.std(dim=0, unbiased=False)


def step(w: Tensor, grad: Tensor, learning_rate: float) -> Tensor:
    w -= learning_rate * grad
    return w
