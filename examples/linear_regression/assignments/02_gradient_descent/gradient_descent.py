# %% [markdown]
# # 2. Gradient descent: the same line, step by step
#
# With ten thousand columns, or with a model that is no line, there are no normal equations that one
# could solve. What still works is to begin anywhere and to go downhill, a step at a time. We do it by
# hand first, and then as torch does it; on the line, where we know the right answer.

# %%
# Finds your own assignment 01 when this file is run by itself.
if __name__ == "__main__":
    from grader.notebook import use_own

    use_own("01_normal_equations")

# %%
import torch
from normal_equations import mean_squared_error, predict
from torch import Tensor, nn

# %% [markdown]
# ## One scale for all columns
#
# One column holds a flat's rooms (1 to 5), another its price (100,000 to 900,000). A step that is
# right for one column is then far too long, or too short, for the other. So we bring all of them to
# one scale: from each number its column's mean is subtracted, and what is left is divided by the
# column's standard deviation. The hours 0, 1, 2 and 3 have the mean 1.5 and the standard deviation
# $\sqrt{1.25} = 1.118$, and become -1.342, -0.447, 0.447 and 1.342.


# %%
def standardize(x: Tensor) -> Tensor:
    """Each number's distance from its column's mean, in standard deviations.

    The standard deviation is the root of the mean squared distance from the mean: it divides by
    `num_rows`, not by `num_rows - 1`. `x` itself stays as it is.

    Args:
        x: shape `(num_rows, num_features)`; no column has the same number everywhere.

    Returns:
        The same shape.

    Example:
        >>> standardize(torch.tensor([[1.0, 10.0], [3.0, 50.0]]))
        tensor([[-1., -1.],
                [ 1.,  1.]])
    """
    # TODO: subtract each column's mean, and divide by each column's standard deviation.
    raise NotImplementedError("02_gradient_descent/standardize: not attempted yet")


# %% [markdown]
# ## Which way is uphill
#
# The mean squared error depends on the weights: $L(w) = \frac{1}{n} \sum_i (x_i \cdot w - y_i)^2$.
# Its gradient says for each weight how much $L$ grows when that weight grows a little. By the chain
# rule, from the outside in: the square gives $2\,(x_i \cdot w - y_i)$, the product inside gives $x_i$,
# and together
#
# $$\nabla L(w) = \frac{2}{n} X^\top (X w - y).$$
#
# For the four students of assignment 1 and $w = (0, 0)$, the errors $X w - y$ are -1, -3, -4 and -4.
# So $X^\top (X w - y) = (-12, -23)$, and the gradient is $\frac{2}{4}$ of it: $(-6, -11.5)$. Both are
# negative, so both weights should grow. Where the gradient is 0, we have the normal equations again.


# %%
def gradient(X: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """The gradient of the mean squared error for the weights.

    Args:
        X: shape `(num_rows, num_columns)`, with its column of ones.
        y: shape `(num_rows,)`.
        w: shape `(num_columns,)`.

    Returns:
        Shape `(num_columns,)`.

    Example:
        >>> X = torch.tensor([[1.0, 2.0], [1.0, 3.0]])
        >>> gradient(X, torch.tensor([1.0, 1.0]), torch.tensor([0.0, 1.0]))
        tensor([3., 8.])
    """
    # TODO: compute the errors of the predictions, and from them the gradient.
    raise NotImplementedError("02_gradient_descent/gradient: not attempted yet")


# %% [markdown]
# ## One step
#
# The gradient points uphill, so we go against it, and only a small part of the way: the learning rate
# says how small. From $w = (0, 0)$ with the gradient $(-6, -11.5)$ and the learning rate 0.1, the step
# leads to $(0.6, 1.15)$.


# %%
def step(w: Tensor, grad: Tensor, learning_rate: float) -> Tensor:
    """The weights after one step of gradient descent.

    `w` itself stays as it is.

    Args:
        w: shape `(num_columns,)`, the weights before.
        grad: the same shape, the gradient there.
        learning_rate: how far to go.

    Returns:
        The same shape.

    Example:
        >>> step(torch.tensor([1.0, 1.0]), torch.tensor([2.0, -4.0]), 0.25)
        tensor([0.5000, 2.0000])
    """
    # TODO: go against the gradient, as far as the learning rate says.
    raise NotImplementedError("02_gradient_descent/step: not attempted yet")


# %% [markdown]
# ## Many steps
#
# After one step the gradient is another one, so it has to be computed again where we are now. For the
# four students and a learning rate of 0.1, the mean squared error is 10.5 at the beginning, 0.73 after
# one step, and near 0.25, the smallest there is, after a hundred. (With 0.25 instead of 0.1 it grows
# with every step. Try it: too long a step lands higher on the other side of the valley.)


# %%
def fit(X: Tensor, y: Tensor, learning_rate: float, steps: int) -> Tensor:
    """The weights after so many steps of gradient descent, from zeros.

    They have the dtype of `X` and `y`. With 0 steps they are zeros.

    Args:
        X: shape `(num_rows, num_columns)`, with its column of ones.
        y: shape `(num_rows,)`.
        learning_rate: how far each step goes.
        steps: how many there are.

    Returns:
        Shape `(num_columns,)`.

    Example:
        >>> X = torch.tensor([[1.0, 2.0], [1.0, 3.0]])
        >>> fit(X, torch.tensor([1.0, 1.0]), 0.1, 1)
        tensor([0.2000, 0.5000])
    """
    # TODO: begin with zeros, and take the steps; `gradient` and `step` are yours to use.
    raise NotImplementedError("02_gradient_descent/fit: not attempted yet")


# %% [markdown]
# ## The line as a module
#
# torch computes gradients itself, for whatever you compute; it only has to know which numbers are to
# be learned. In an `nn.Module` these are its parameters. We keep the intercept apart now and call it
# `bias`, as torch does, so that nobody has to make a column of ones.


# %%
class LinearRegression(nn.Module):
    """Predicts a number for each row: a weight for each feature, and a bias.

    Args:
        num_features: how many numbers a row has.
    """

    def __init__(self, num_features: int) -> None:
        super().__init__()
        # TODO: create the parameters `weight`, `(num_features,)` zeros, and `bias`, `(1,)` zeros.
        raise NotImplementedError("02_gradient_descent/LinearRegression: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The predictions; gradients reach both parameters, and the features.

        Args:
            x: shape `(num_rows, num_features)`, without a column of ones.

        Returns:
            Shape `(num_rows,)`.
        """
        # TODO: multiply each row with the weights, add up, and add the bias.
        raise NotImplementedError("02_gradient_descent/LinearRegression: not attempted yet")


# %% [markdown]
# ## Training, as torch does it
#
# The loop is yours from `fit`; torch has a name for each part of it. `loss.backward()` computes the
# gradient for every parameter and *adds* it to what stands in `.grad` already: so that has to be set
# to zero before, in every step. `torch.optim.SGD(model.parameters(), lr=…)` takes the steps.
#
# The loop never asks what the model computes. So it is tried on `Line`, which has torch's own layer
# inside (`nn.Linear` gives a column of predictions; `squeeze` makes a row of it), and it works as well
# for your `LinearRegression`.


# %%
class Line(nn.Module):
    """A line as torch has it, to try `train` on."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.layer = nn.Linear(num_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The predictions, shape `(num_rows,)`."""
        return self.layer(x).squeeze(-1)


# %%
def train(model: nn.Module, x: Tensor, y: Tensor, learning_rate: float, steps: int) -> Tensor:
    """Trains a model by gradient descent on the mean squared error, all rows in each step.

    The parameters of `model` are changed; gradients that it has from before do not count.

    Args:
        model: maps `(num_rows, num_features)` to `(num_rows,)`.
        x: shape `(num_rows, num_features)`.
        y: shape `(num_rows,)`.
        learning_rate: how far each step goes.
        steps: how many there are, at least 1.

    Returns:
        The mean squared error before each step, shape `(steps,)`.

    Example:
        >>> model = Line(1)
        >>> for parameter in model.parameters():
        ...     _ = nn.init.zeros_(parameter)
        >>> train(model, torch.ones(2, 1), torch.tensor([1.0, 3.0]), 0.1, 2)
        tensor([5.0000, 2.4400])
    """
    # TODO: in each step compute the loss and its gradients, note the loss, and take the step.
    raise NotImplementedError("02_gradient_descent/train: not attempted yet")


# %% [markdown]
# ## The same line
#
# When all of this is written, three ways lead to one line: the normal equations, `fit` on a design
# matrix, and `train` on the module, whose bias is what the column of ones was for. Compare the three
# on the four students, and watch what a smaller learning rate costs.
