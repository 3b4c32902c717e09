# %% [markdown]
# # 5. The causal mask
#
# So far every token looks at the whole sentence. In the weights of assignment 04 (`WEIGHTS`, below
# the picture), "Your", the first word, spends 0.8079 of its weight on words that come after it, and
# "journey" 0.6300.
#
# A model that learns to continue a text must not see the continuation. Each token may attend to
# itself and to the tokens before it, and to nothing that comes after. A **mask** says which is
# which. Such a mask is called causal: what comes later cannot influence what came before.
#
# Without the mask the model would learn to peek: asked for the word after "Your", it would look one
# place ahead, at "journey", and be right each time. When it is to write by itself, nothing stands
# there, and it has learnt nothing. With the mask, 15 of the 36 weights are 0, and one sentence
# gives as many exercises as it has tokens, none of which shows its answer.
#
# The first half hides weights after the softmax and repairs the rows. The second half hides
# scores before the softmax, and nothing is left to repair. Both end in the same weights.
#
# **About 45 minutes, difficulty 2 of 3.** You need assignments 02 and 03.

# %% [markdown]
# ```text
# The second way: no word looks ahead
#
# Scores
#            Your  journey   starts     with      one     step
# Your       0.29     0.07     0.08    −0.01     0.13    −0.05
# journey    0.47     0.17     0.18     0.03     0.18     0.01
# starts     0.46     0.17     0.17     0.03     0.17     0.01
# with       0.26     0.10     0.10     0.02     0.10     0.01
# one        0.22     0.09     0.09     0.02     0.08     0.01
# step       0.34     0.13     0.13     0.02     0.13     0.01
#                      minus infinity above the diagonal
#                                      ↓
# Masked scores
#            Your  journey   starts     with      one     step
# Your       0.29       −∞       −∞       −∞       −∞       −∞
# journey    0.47     0.17       −∞       −∞       −∞       −∞
# starts     0.46     0.17     0.17       −∞       −∞       −∞
# with       0.26     0.10     0.10     0.02       −∞       −∞
# one        0.22     0.09     0.09     0.02     0.08       −∞
# step       0.34     0.13     0.13     0.02     0.13     0.01
#                         scaled, softmax of each row
#                                      ↓
# Weights
#            Your  journey   starts     with      one     step   sum
# Your       1.00        0        0        0        0        0   1.00
# journey    0.55     0.45        0        0        0        0   1.00
# starts     0.38     0.31     0.31        0        0        0   1.00
# with       0.28     0.25     0.25     0.23        0        0   1.00
# one        0.22     0.20     0.20     0.19     0.20        0   1.00
# step       0.19     0.17     0.17     0.15     0.17     0.15   1.00
#
# The softmax makes 0 of each −∞. "Your" sees itself alone, "step" sees all
# six, and each row still sums to 1.
# ```

# %%
import torch
from torch import Tensor

# "Your journey starts with one step": the weights of the self-attention of assignment 04, seed
# 789.
WEIGHTS = torch.tensor(
    [
        [0.1921, 0.1646, 0.1652, 0.1550, 0.1721, 0.1510],  # Your
        [0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477],  # journey
        [0.2036, 0.1659, 0.1662, 0.1498, 0.1664, 0.1480],  # starts
        [0.1869, 0.1667, 0.1668, 0.1571, 0.1661, 0.1564],  # with
        [0.1830, 0.1669, 0.1670, 0.1588, 0.1658, 0.1585],  # one
        [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],  # step
    ]
)

# %% [markdown]
# ## First way: hide weights
#
# Row `i` holds the weights of token `i`. The tokens it may use are the columns up to and including
# `i`: the lower triangle. A mask of ones and zeros keeps them when it is multiplied with the
# weights.


# %%
def lower_triangular_mask(context_length: int) -> Tensor:
    """Which tokens each token may use.

    Args:
        context_length: the number of tokens.

    Returns:
        Shape `(context_length, context_length)`: ones on and below the diagonal, zeros above it.

    Example:
        >>> lower_triangular_mask(3)
        tensor([[1., 0., 0.],
                [1., 1., 0.],
                [1., 1., 1.]])
    """
    # TODO: make a square of ones and keep its lower triangle, the diagonal included.
    raise NotImplementedError("05_causal_mask/lower_triangular_mask: not attempted yet")


# %%
def mask_weights(weights: Tensor, mask: Tensor) -> Tensor:
    """Weights with the future, that is all later tokens, set to zero.

    The weights and the mask stay as they are.

    Args:
        weights: shape `(num_tokens, num_tokens)`.
        mask: shape `(num_tokens, num_tokens)`, ones where a weight stays, zeros where it goes.

    Returns:
        Shape `(num_tokens, num_tokens)`.

    Example:
        >>> mask_weights(WEIGHTS[:3, :3], lower_triangular_mask(3))
        tensor([[0.1921, 0.0000, 0.0000],
                [0.2041, 0.1659, 0.0000],
                [0.2036, 0.1659, 0.1662]])
    """
    # TODO: keep the weights where the mask is one, and put zeros elsewhere.
    raise NotImplementedError("05_causal_mask/mask_weights: not attempted yet")


# %% [markdown]
# With weights gone, the rows no longer sum to 1. Dividing each row by its own sum repairs that.


# %%
def renormalize_rows(weights: Tensor) -> Tensor:
    """Rows that sum to 1 again.

    The weights stay as they are. Gradients flow to them. The result has their dtype.

    Args:
        weights: shape `(num_tokens, num_tokens)`, none negative, no row without any weight.

    Returns:
        Shape `(num_tokens, num_tokens)`: each row divided by its sum.

    Example:
        >>> renormalize_rows(mask_weights(WEIGHTS[:3, :3], lower_triangular_mask(3)))
        tensor([[1.0000, 0.0000, 0.0000],
                [0.5516, 0.4484, 0.0000],
                [0.3801, 0.3097, 0.3102]])

        (`WEIGHTS` is rounded; exact weights give 0.5517 and 0.4483.)
    """
    # TODO: divide each row by its own sum; mind the shape of the sums.
    raise NotImplementedError("05_causal_mask/renormalize_rows: not attempted yet")


# %% [markdown]
# ## Second way: hide scores
#
# The softmax turns a score of minus infinity into a weight of exactly 0, since $e^{-\infty} = 0$,
# and makes the rest of the row sum to 1. So hide the scores, and the softmax does the repair. It is
# also safer: where nearly all weight lies on later tokens, the first way divides by almost 0. From
# here on we use the second way. Now the mask marks what is to be hidden: everything above the
# diagonal.


# %%
def upper_triangular_mask(context_length: int) -> Tensor:
    """Which tokens each token must not see.

    Args:
        context_length: the number of tokens.

    Returns:
        Shape `(context_length, context_length)`: ones above the diagonal, zeros on and below it.
        `True` and `False` are just as good.

    Example:
        >>> upper_triangular_mask(3)
        tensor([[0., 1., 1.],
                [0., 0., 1.],
                [0., 0., 0.]])
    """
    # TODO: make a square of ones and keep what lies strictly above the diagonal.
    raise NotImplementedError("05_causal_mask/upper_triangular_mask: not attempted yet")


# %%
def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores with minus infinity where the mask is set.

    The scores and the mask stay as they are. Gradients flow to the scores that are not hidden.

    Args:
        scores: shape `(num_tokens, num_tokens)`.
        mask: shape `(num_tokens, num_tokens)`, one (or `True`) where a score is to be hidden.

    Returns:
        Shape `(num_tokens, num_tokens)`.

    Example:
        >>> scores = torch.tensor([[0.2899, 0.0716], [0.4656, 0.1723]])
        >>> mask_scores(scores, upper_triangular_mask(2))
        tensor([[0.2899,   -inf],
                [0.4656, 0.1723]])
    """
    # TODO: put minus infinity where the mask is set; the mask may hold numbers or truth values.
    raise NotImplementedError("05_causal_mask/mask_scores: not attempted yet")


# %% [markdown]
# Everything together: hide the scores above the diagonal, scale, take the softmax of each row.
#
# $$\text{softmax}\left(\frac{\text{masked scores}}{\sqrt{d_k}}\right)$$
#
# Use `torch.softmax`, or your own `softmax_stable` of 01, as in assignment 02.


# %%
def causal_weights(scores: Tensor, d_k: int) -> Tensor:
    """Attention weights in which no token looks ahead.

    The scores stay as they are. Gradients flow to those on and below the diagonal. The weights have
    the dtype of the scores.

    Args:
        scores: shape `(num_tokens, num_tokens)`: row `i` has the scores of query `i`.
        d_k: the size of a query and of a key.

    Returns:
        Shape `(num_tokens, num_tokens)`: zeros above the diagonal, rows that sum to 1.

    Example:
        >>> causal_weights(torch.tensor([[0.2899, 0.0716], [0.4656, 0.1723]]), 2)
        tensor([[1.0000, 0.0000],
                [0.5517, 0.4483]])
    """
    # TODO: mask the scores, divide them by the square root of d_k, softmax over the last axis.
    raise NotImplementedError("05_causal_mask/causal_weights: not attempted yet")
