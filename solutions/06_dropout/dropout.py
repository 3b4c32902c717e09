# %% [markdown]
# # 6. Dropout
#
# A model with many parameters can learn its training texts by heart, and attention makes it easy:
# if in the training texts one earlier token happens to give the answer away, all attention weight
# may go to it, and on a new text without that token the model fails.
#
# While a model trains, **dropout** sets a random part of the attention weights to zero, another
# part each time, so that no token comes to rely on a single other one. When the model is used,
# nothing is dropped.
#
# Dropout also makes the kept weights larger. Why? Let each weight be dropped with probability
# $p = 0.5$. In causal attention "journey" has the weights `[0.5517, 0.4483]`. Each of them is kept
# half of the time: as they are, they would sum to 0.5 on average, and the layer would hand on half
# as much in training as in use. Doubled, they sum to 1 on average.
#
# On average only. In a single draw the rows no longer sum to 1: in one draw for the six words they
# sum to 2, 0.90, 0.62, 1.04, 0.43 and 0.33. That is as it should be; do not repair it.
#
# **About 30 minutes, difficulty 1 of 3.** You need assignment 05.

# %% [markdown]
# ![Two maps of causal weights. Above, the weights that a draw keeps are marked; below, these are
# doubled and all others are 0, so that the rows have other sums than 1.](picture.svg)

# %%
import torch
from torch import Tensor

# %% [markdown]
# ## What is kept, grows
#
# Each weight is dropped with probability $p$. To leave the average as it was, the weights that stay
# are multiplied by this factor:
#
# $$\frac{1}{1 - p}$$


# %% exercise="dropout_scale"
def dropout_scale(p: float) -> float:
    """The factor by which kept weights grow.

    Args:
        p: the probability with which a weight is dropped, from 0 up to but not including 1.

    Returns:
        The factor, a number.

    Example:
        Half of the weights go, the others are doubled:

        >>> dropout_scale(0.5)
        2.0
    """
    # TODO: work out the factor from the probability that a weight is kept.
    ### BEGIN SOLUTION
    return 1 / (1 - p)
    ### END SOLUTION


# %% [markdown]
# ## With a given mask
#
# Which weights stay is drawn at random, and the draw may differ from machine to machine. What
# happens after the draw does not, so take the drawn mask as given first.


# %% exercise="apply_dropout_mask"
def apply_dropout_mask(weights: Tensor, keep_mask: Tensor, p: float) -> Tensor:
    """Weights after dropout with a mask that is already drawn.

    The weights and the mask stay as they are. Gradients flow to the weights that are kept. The
    result has the dtype of the weights.

    Args:
        weights: any shape, mostly `(num_tokens, num_tokens)`.
        keep_mask: the same shape, truth values: `True` where a weight is kept.
        p: the probability with which weights were dropped when the mask was drawn.

    Returns:
        The shape of `weights`: kept weights times the factor, zeros elsewhere.

    Example:
        >>> weights = torch.tensor([[1.0000, 0.0000], [0.5517, 0.4483]])
        >>> apply_dropout_mask(weights, torch.tensor([[True, True], [False, True]]), 0.5)
        tensor([[2.0000, 0.0000],
                [0.0000, 0.8966]])
    """
    # TODO: put zeros where the mask is False, and scale what is kept.
    ### BEGIN SOLUTION
    return weights * keep_mask * dropout_scale(p)
    ### END SOLUTION


# %% [markdown]
# ## With a mask of your own
#
# Now draw the mask as well: a fresh one at every call, each entry for itself. Outside of training
# the weights pass through untouched.


# %% exercise="dropout"
def dropout(weights: Tensor, p: float, training: bool) -> Tensor:
    """Dropout as a layer does it.

    The weights stay as they are. Gradients flow to those that are kept. The result has their dtype.

    Args:
        weights: any shape.
        p: the probability with which an entry is dropped, from 0 up to but not including 1.
        training: whether the model is being trained.

    Returns:
        The shape of `weights`. In training, entries are dropped at random and the kept ones
        scaled; otherwise the weights as they are.

    Example:
        Which entries are kept is up to chance; this is one possible result:

        >>> _ = torch.manual_seed(123)
        >>> dropout(torch.ones(2, 3), 0.5, training=True)
        tensor([[0., 2., 0.],
                [2., 0., 2.]])
        >>> dropout(torch.ones(2, 3), 0.5, training=False)
        tensor([[1., 1., 1.],
                [1., 1., 1.]])
    """
    # TODO: in training, draw which entries are kept and apply that mask.
    ### BEGIN SOLUTION
    if not training:
        return weights
    keep_mask = torch.rand(weights.shape) >= p
    return apply_dropout_mask(weights, keep_mask, p)
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** Causal weights with equal shares, row by row: the sums of the six rows after one
# draw, after another one, on average over 2000, and their standard deviation. Look at the last two
# lines, then answer: why do the sums of the first row jump most?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     torch.manual_seed(123)
#     weights = torch.ones(6, 6).tril() / torch.arange(1.0, 7.0).reshape(6, 1)
#     sums = torch.stack([dropout(weights, 0.5, training=True).sum(dim=-1) for _ in range(2000)])
#     for row in (sums[0], sums[1], sums.mean(dim=0), sums.std(dim=0)):
#         print([round(total, 2) for total in row.tolist()])
