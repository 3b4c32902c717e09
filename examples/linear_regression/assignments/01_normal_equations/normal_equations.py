# %% [markdown]
# # 1. Normal equations: the line that fits best
#
# Four students studied for 0, 1, 2 and 3 hours, and solved 1, 3, 4 and 4 problems. Which line
# describes that best, and what does *best* mean? Five small functions answer both questions, for
# one column of numbers or for many.

# %%
import torch
from torch import Tensor

HOURS = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
SOLVED = torch.tensor([1.0, 3.0, 4.0, 4.0])

# %% [markdown]
# ## A column of ones
#
# A line has two numbers: where it begins (the intercept, $w_0$) and how steep it is (the slope,
# $w_1$). For a student with $x$ hours it says $w_0 + w_1 x$. Read that as $w_0 \cdot 1 + w_1 \cdot x$:
# the intercept is a weight as well, of a number that is 1 for everybody. So we put a column of ones
# before the others, and from here on no formula needs a special case for the intercept.


# %%
def design_matrix(x: Tensor) -> Tensor:
    """The numbers of each row, with a 1 before them.

    It has the dtype of `x`. `x` itself stays as it is.

    Args:
        x: shape `(num_rows, num_features)`.

    Returns:
        Shape `(num_rows, 1 + num_features)`.

    Example:
        >>> design_matrix(torch.tensor([[5.0], [7.0]]))
        tensor([[1., 5.],
                [1., 7.]])
    """
    # TODO: make a column of ones, and put it before the columns of x.
    raise NotImplementedError("01_normal_equations/design_matrix: not attempted yet")


# %% [markdown]
# ## What a line predicts
#
# With $w = (1.5, 1)$, the student with 2 hours should solve $1.5 \cdot 1 + 1 \cdot 2 = 3.5$ problems.
# That is the dot product of a row of the design matrix $X$ with $w$, and all rows at once are one
# product: $\hat y = X w$.


# %%
def predict(X: Tensor, w: Tensor) -> Tensor:
    """What the weights predict for each row of a design matrix.

    Gradients reach the weights.

    Args:
        X: shape `(num_rows, num_columns)`, with its column of ones.
        w: shape `(num_columns,)`, the intercept first.

    Returns:
        Shape `(num_rows,)`.

    Example:
        >>> predict(torch.tensor([[1.0, 2.0], [1.0, 3.0]]), torch.tensor([1.5, 1.0]))
        tensor([3.5000, 4.5000])
    """
    # TODO: multiply each row with the weights, and add up.
    raise NotImplementedError("01_normal_equations/predict: not attempted yet")


# %% [markdown]
# ## How far off
#
# The four predictions of $1.5 + x$ are 1.5, 2.5, 3.5 and 4.5. They miss 1, 3, 4 and 4 by -0.5, 0.5,
# 0.5 and -0.5. Added up, these errors are 0, as if the line were perfect: errors above and below
# cancel. Squares do not, so we take the mean of the squared errors, here 0.25. The *best* line is the
# one for which this number is smallest.


# %%
def mean_squared_error(y: Tensor, y_hat: Tensor) -> Tensor:
    """The mean of the squared differences.

    Gradients reach the predictions.

    Args:
        y: shape `(num_rows,)`, what was observed.
        y_hat: shape `(num_rows,)`, what was predicted.

    Returns:
        A single number, shape `()`.

    Example:
        >>> mean_squared_error(torch.tensor([1.0, 3.0]), torch.tensor([2.0, 6.0]))
        tensor(5.)
    """
    # TODO: square the differences, and take the mean.
    raise NotImplementedError("01_normal_equations/mean_squared_error: not attempted yet")


# %% [markdown]
# ## The best weights
#
# At the smallest mean squared error, the errors $y - X w$ have nothing in common with any column of
# $X$: each column's dot product with them is 0. (Otherwise a little more, or less, of that column
# would make the errors smaller.) Written out, $X^\top (y - X w) = 0$, or
#
# $$X^\top X \, w = X^\top y.$$
#
# These are the *normal equations*: as many as there are weights. For the four students,
# $X^\top X = \begin{pmatrix} 4 & 6 \\ 6 & 14 \end{pmatrix}$ and $X^\top y = (12, 23)$, and
# $w = (1.5, 1)$ solves them: $4 \cdot 1.5 + 6 \cdot 1 = 12$ and $6 \cdot 1.5 + 14 \cdot 1 = 23$.


# %%
def solve_normal_equations(X: Tensor, y: Tensor) -> Tensor:
    """The weights with the smallest mean squared error.

    They have the dtype of `X` and `y`.

    Args:
        X: shape `(num_rows, num_columns)`, with its column of ones; its columns are independent.
        y: shape `(num_rows,)`.

    Returns:
        Shape `(num_columns,)`.

    Example:
        >>> X = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> solve_normal_equations(X, torch.tensor([1.0, 3.0, 5.0])).round(decimals=4)
        tensor([1., 2.])
    """
    # TODO: write down both sides of the normal equations, and solve them.
    raise NotImplementedError("01_normal_equations/solve_normal_equations: not attempted yet")


# %% [markdown]
# ## How much of it is explained
#
# Is 0.25 a small error? That depends on how different the students are. Who knows nothing of hours
# predicts the mean, 3, for everybody: the squared errors are then 4, 0, 1 and 1, in sum 6. With the
# line they are 0.25 each, in sum 1. So a sixth is left, and five sixths are explained:
#
# $$R^2 = 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - \bar y)^2} = 1 - \frac{1}{6}.$$
#
# Predictions that are worse than the mean have a negative $R^2$.


# %%
def r_squared(y: Tensor, y_hat: Tensor) -> Tensor:
    """The share of the variation around the mean that predictions explain.

    It is 1 for perfect predictions, 0 for the mean, and negative for what is worse than the mean.

    Args:
        y: shape `(num_rows,)`, what was observed; not all the same.
        y_hat: shape `(num_rows,)`, what was predicted.

    Returns:
        A single number, shape `()`.

    Example:
        >>> r_squared(torch.tensor([0.0, 2.0]), torch.tensor([0.5, 1.5]))
        tensor(0.7500)
    """
    # TODO: divide what is left by what there was, and subtract that from 1.
    raise NotImplementedError("01_normal_equations/r_squared: not attempted yet")
