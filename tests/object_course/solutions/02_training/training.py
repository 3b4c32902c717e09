# %% [markdown]
# # 2. Training
#
# Data, a step down, a loss.

# %%
from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor


def mse(one: Tensor, other: Tensor) -> Tensor:
    """The mean of the squared differences."""
    return (one - other).square().mean()


# %% exercise="Pairs"
class Pairs:
    """A data set of inputs and targets.

    Args:
        inputs: shape `(num_examples, d_in)`.
        targets: shape `(num_examples,)`.
    """

    def __init__(self, inputs: np.ndarray, targets: np.ndarray) -> None:
        # TODO: keep both.
        ### BEGIN SOLUTION
        self.inputs, self.targets = inputs, targets
        ### END SOLUTION

    def __len__(self) -> int:
        """How many examples there are."""
        # TODO: count them.
        ### BEGIN SOLUTION
        return len(self.inputs)
        ### END SOLUTION

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """One example: its input and its target."""
        # TODO: take one of each.
        ### BEGIN SOLUTION
        return self.inputs[index], self.targets[index]
        ### END SOLUTION


# %% exercise="Descent"
class Descent:
    """Takes steps against the gradient.

    Args:
        parameters: what it changes.
        rate: how far.
    """

    def __init__(self, parameters: Iterable[Tensor], rate: float) -> None:
        # TODO: keep the parameters, and how far a step goes.
        ### BEGIN SOLUTION
        self.parameters, self.rate = list(parameters), rate
        ### END SOLUTION

    def step(self) -> None:
        """Change every parameter by its gradient."""
        # TODO: go against the gradient.
        ### BEGIN SOLUTION
        with torch.no_grad():
            for parameter in self.parameters:
                parameter -= self.rate * parameter.grad
        ### END SOLUTION


# %%
class Line(torch.nn.Module):
    """A line through the origin, which `Descent` can move."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        """The line's values."""
        return x @ self.slope


# %% exercise="loss_of"
def loss_of(loss: Callable[[Tensor, Tensor], Tensor], one: Tensor, other: Tensor) -> Tensor:
    """Ten times what a loss makes of two tensors."""
    # TODO: call the loss.
    ### BEGIN SOLUTION
    return 10 * loss(one, other)
    ### END SOLUTION
