# %% [markdown]
# # 2. All tokens at once
#
# So far a single token asked, and only "journey" has a context vector. A model has several such
# steps, called *layers*, one after another, and the next one needs a vector for each token.
#
# Now every token is a query in its turn: the scores become a square, with a row for each query
# and a column for each token it looks at. One matrix product makes the whole square, and another
# one all mixtures.
#
# Without matrix products, attention would be too slow to be of use: for the 1024 tokens that
# GPT-2 reads at a time, a square has 1,048,576 scores.
#
# Look at the square when you have it. It is symmetric: "journey" and "step" score each other
# 1.0865. Nevertheless their weights differ, 0.1581 from "journey" to "step" and 0.2184 back: the
# softmax divides each row by the sum of that row's exponentials, and these sums differ. And "with"
# scores "journey", 0.8434, far above itself, 0.4937: its own vector is short.
#
# **About 30 minutes, difficulty 1 of 3.** You need assignment 01, and matrix products.
#
# Fill in the functions below. Check your work with `grader check 02`, or in the notebook with the
# cell below each exercise.

# %% [markdown]
# ```text
# Each word asks all six words: one row of weights for each
#
# Scores of each word with each
#            Your  journey   starts     with      one     step
# Your       1.00     0.95     0.94     0.48     0.46     0.63
# journey    0.95     1.50     1.48     0.84     0.71     1.09
# starts     0.94     1.48     1.46     0.83     0.72     1.06
# with       0.48     0.84     0.83     0.49     0.35     0.66
# one        0.46     0.71     0.72     0.35     0.67     0.29
# step       0.63     1.09     1.06     0.66     0.29     0.95
#                             softmax of each row
#                                      ↓
# Weights
#            Your  journey   starts     with      one     step   sum
# Your       0.21     0.20     0.20     0.12     0.12     0.15   1.00
# journey    0.14     0.24     0.23     0.12     0.11     0.16   1.00
# starts     0.14     0.24     0.23     0.12     0.11     0.16   1.00
# with       0.14     0.21     0.20     0.15     0.13     0.17   1.00
# one        0.15     0.20     0.20     0.14     0.19     0.13   1.00
# step       0.14     0.22     0.21     0.14     0.10     0.19   1.00
#
# A row says where one word looks; it sums to 1. The scores are the same
# across the diagonal; the weights are not, because the softmax divides each
# row by a different number.
# ```

# %%
import torch
from torch import Tensor

# "Your journey starts with one step": a row for each word.
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],  # Your
        [0.55, 0.87, 0.66],  # journey
        [0.57, 0.85, 0.64],  # starts
        [0.22, 0.58, 0.33],  # with
        [0.77, 0.25, 0.10],  # one
        [0.05, 0.80, 0.55],  # step
    ]
)

# %% [markdown]
# ## Step 1: a score for every pair
#
# Two loops go through all pairs: the outer one picks the query, the inner one the token it is
# compared with. Written this way, you see what happens. The price: six tokens take 36 dot products,
# twice as many tokens four times as many, and each is a step of its own.


# %%
def attention_scores_loop(inputs: Tensor) -> Tensor:
    """The scores of every token with every token, pair by pair.

    The inputs stay as they are. Gradients flow to them.

    Args:
        inputs: shape `(num_tokens, d_in)`.

    Returns:
        Shape `(num_tokens, num_tokens)`: entry `[i, j]` is the dot product of tokens `i` and `j`.

    Example:
        The first three words among themselves:

        >>> attention_scores_loop(INPUTS[:3])
        tensor([[0.9995, 0.9544, 0.9422],
                [0.9544, 1.4950, 1.4754],
                [0.9422, 1.4754, 1.4570]])
    """
    # TODO: fill a square of scores, one pair of tokens at a time.
    raise NotImplementedError("02_all_tokens/attention_scores_loop: not attempted yet")


# %% [markdown]
# A matrix product is nothing but all dot products of the rows of one matrix with the columns of
# another. One product replaces both loops, and it is much faster.


# %%
def attention_scores_matmul(inputs: Tensor) -> Tensor:
    """The scores of every token with every token, in one matrix product.

    The inputs stay as they are. Gradients flow to them. The scores have the dtype of the inputs.

    Args:
        inputs: shape `(num_tokens, d_in)`.

    Returns:
        Shape `(num_tokens, num_tokens)`: entry `[i, j]` is the dot product of tokens `i` and `j`.

    Example:
        >>> attention_scores_matmul(INPUTS[:3])
        tensor([[0.9995, 0.9544, 0.9422],
                [0.9544, 1.4950, 1.4754],
                [0.9422, 1.4754, 1.4570]])
    """
    # TODO: say both loops in one matrix product.
    raise NotImplementedError("02_all_tokens/attention_scores_matmul: not attempted yet")


# %% [markdown]
# ## Step 2: each query has its own weights
#
# A row holds the scores of one query, so it is each *row* that must sum to 1. Which axis the
# softmax runs along decides that. Here the scores are symmetric, but soon they will not be.
#
# Use `torch.softmax`, or your own softmax of assignment 01, row by row:
# `from grader.notebook import use_own`, `use_own("01_simple_attention")`, then
# `from simple_attention import softmax_stable`. When your work is graded, a right one takes its
# place: a slip in 01 costs nothing here.


# %%
def attention_weights(scores: Tensor) -> Tensor:
    """The softmax of each query's scores.

    The scores stay as they are. Gradients flow to them. The weights have the dtype of the scores.

    Args:
        scores: shape `(num_tokens, num_tokens)`, a row for each query.

    Returns:
        Shape `(num_tokens, num_tokens)`; each row sums to 1.

    Example:
        The scores of "Your" and of "journey", among the two of them:

        >>> attention_weights(torch.tensor([[0.9995, 0.9544], [0.9544, 1.4950]]))
        tensor([[0.5113, 0.4887],
                [0.3680, 0.6320]])
    """
    # TODO: apply the softmax to each row. torch has a ready-made one.
    raise NotImplementedError("02_all_tokens/attention_weights: not attempted yet")


# %% [markdown]
# ## Step 3: a mixture for every query
#
# Each row of weights mixes the same tokens in its own way. Again one matrix product does it all.


# %%
def context_vectors(weights: Tensor, inputs: Tensor) -> Tensor:
    """The context vectors of all queries.

    The weights and the inputs stay as they are. Gradients flow to both.

    Args:
        weights: shape `(num_tokens, num_tokens)`, a row for each query.
        inputs: shape `(num_tokens, d_in)`.

    Returns:
        Shape `(num_tokens, d_in)`: row `i` is the sum of all tokens, each times its weight in
        row `i` of the weights.

    Example:
        "journey", the second word, gets the context vector you know:

        >>> weights = attention_weights(attention_scores_matmul(INPUTS))
        >>> context_vectors(weights, INPUTS)[1]
        tensor([0.4419, 0.6515, 0.5683])
    """
    # TODO: mix the tokens once for each row of weights.
    raise NotImplementedError("02_all_tokens/context_vectors: not attempted yet")
