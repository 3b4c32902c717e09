# %% [markdown]
# # 1. Simple attention
#
# A model keeps a vector for each word in a table, and takes the same vector in every sentence:
# "step" is the same numbers in "one step" and in "step aside". But what a word means depends on
# the words around it, and the table knows nothing of them.
#
# **Attention** makes a new vector for a word: a mixture of all words of the sentence, more of one
# and less of another, called a **context vector**. One word asks, the *query*. Each word gets a
# score, the scores become weights that sum to 1, and the weights mix the words. There is nothing
# to train yet.
#
# What breaks without the weights? If all six words counted the same, each word would get the plain
# mean, `[0.4317, 0.5833, 0.5283]`, whoever asks. With them, "journey" gets
# `[0.4419, 0.6515, 0.5683]`, which lies nearer to its own vector, `[0.55, 0.87, 0.66]`: the mixture
# depends on who asks.
#
# The sentence is "Your journey starts with one step", with three numbers for each word. Each of the
# three is called a *feature*. In GPT-2, a language model of 2019, there are 768. (A **token** is a
# piece of text with a vector of its own; here it is a word.)
#
# **About 45 minutes, difficulty 1 of 3.** You need Python functions, and tensors with their
# shapes.
#
# Fill in the functions below. Check your work with `grader check 01`, or in the notebook with the
# cell below each exercise.

# %% [markdown]
# ![Six words with three numbers each. Below, row by row: the score of each word with journey, the
# weights that the softmax makes of the scores, and the context vector, in which all six words are
# mixed.](picture.svg)

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
# ## Step 1: a score for two words
#
# The dot product multiplies two vectors entry by entry and adds the products up. It is the product
# of both lengths (a length is the root of the sum of squares) and of the cosine of the angle
# between the vectors: the more they point the same way, the larger it is, and the longer they are,
# the further from 0.
#
# So it does not say how alike two words are. "one" scores 0.6654 with itself and 0.7154 with
# "starts": "starts" points elsewhere, but it is longer, 1.2071 against the 0.8157 of "one". The
# cosine alone is 1 for "one" with itself and 0.7266 with "starts". Attention takes the dot product
# as it is; from assignment 03 on, training can change direction and length.


# %% exercise="dot_product"
def dot_product(a: Tensor, b: Tensor) -> Tensor:
    """The dot product of two vectors.

    The vectors stay as they are. Gradients flow to both of them.

    Args:
        a: shape `(d,)`.
        b: shape `(d,)`.

    Returns:
        A tensor of a single number, shape `()`.

    Example:
        "Your" and "journey":

        >>> dot_product(INPUTS[0], INPUTS[1])
        tensor(0.9544)
    """
    # TODO: multiply the vectors entry by entry, then add the products up.
    ### BEGIN SOLUTION
    return (a * b).sum()
    ### END SOLUTION


# %% [markdown]
# An **attention score** is the dot product of the query with one word. The query has a score for
# every word, itself included.


# %% exercise="attention_scores"
def attention_scores(query: Tensor, inputs: Tensor) -> Tensor:
    """The scores of one query with every token.

    The query and the inputs stay as they are. Gradients flow to both.

    Args:
        query: shape `(d_in,)`.
        inputs: shape `(num_tokens, d_in)`.

    Returns:
        Shape `(num_tokens,)`: entry `i` is the dot product of the query and token `i`.

    Example:
        "journey" asks:

        >>> attention_scores(INPUTS[1], INPUTS)
        tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])
    """
    # TODO: take the dot product of the query with each row of inputs.
    ### BEGIN SOLUTION
    return torch.stack([dot_product(query, token) for token in inputs])
    ### END SOLUTION


# %% [markdown]
# ## Step 2: from scores to weights
#
# Weights say which share each word has, so they sum to 1. The plainest way is to divide by the sum.


# %% exercise="normalize_scores"
def normalize_scores(scores: Tensor) -> Tensor:
    """Scores as shares of their sum.

    The scores stay as they are.

    Args:
        scores: shape `(num_tokens,)`.

    Returns:
        Shape `(num_tokens,)`; the entries sum to 1.

    Example:
        >>> normalize_scores(torch.tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]))
        tensor([0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656])
    """
    # TODO: divide the scores so that they sum to 1.
    ### BEGIN SOLUTION
    return scores / scores.sum()
    ### END SOLUTION


# %% [markdown]
# With negative scores some shares of the sum are negative, and the sum itself may be 0. The
# **softmax** takes exponentials first, which are always positive:
#
# $$\text{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$


# %% exercise="softmax_naive"
def softmax_naive(x: Tensor) -> Tensor:
    """The softmax, written as its formula says.

    The scores stay as they are. The weights have the dtype of the scores.

    Write it with `torch.exp`: the point is to see what the ready-made one does.

    Args:
        x: shape `(num_tokens,)`.

    Returns:
        Shape `(num_tokens,)`; positive entries that sum to 1.

    Example:
        >>> softmax_naive(torch.tensor([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]))
        tensor([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])
    """
    # TODO: take exponentials, then divide them by their sum.
    ### BEGIN SOLUTION
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum()
    ### END SOLUTION


# %% [markdown]
# `torch.exp(torch.tensor(1000.0))` is infinite, and infinity divided by infinity is not a number.
# Subtracting one and the same number from all scores leaves the softmax as it is: numerator and
# denominator are divided by the same number. Subtract the largest, and no exponential is above 1.


# %% exercise="softmax_stable"
def softmax_stable(x: Tensor) -> Tensor:
    """The softmax, safe for scores of any size.

    The scores stay as they are. Gradients flow to them.

    Args:
        x: shape `(num_tokens,)`.

    Returns:
        Shape `(num_tokens,)`; entries that sum to 1, none of them NaN.

    Example:
        >>> softmax_stable(torch.tensor([1000.0, 1000.0]))
        tensor([0.5000, 0.5000])
    """
    # TODO: subtract the largest score before taking exponentials.
    ### BEGIN SOLUTION
    exponentials = torch.exp(x - x.max())
    return exponentials / exponentials.sum()
    ### END SOLUTION


# %% [markdown]
# ## Step 3: the mixture
#
# The context vector is the sum of all words, each times its weight.


# %% exercise="context_vector"
def context_vector(weights: Tensor, inputs: Tensor) -> Tensor:
    """The tokens mixed by their weights.

    The weights and the inputs stay as they are.

    Args:
        weights: shape `(num_tokens,)`.
        inputs: shape `(num_tokens, d_in)`.

    Returns:
        Shape `(d_in,)`: the sum of all tokens, each times its weight.

    Example:
        "journey" mixes the sentence:

        >>> weights = torch.tensor([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])
        >>> context_vector(weights, INPUTS)
        tensor([0.4419, 0.6515, 0.5683])
    """
    # TODO: multiply each token by its weight and add the products up.
    ### BEGIN SOLUTION
    return weights @ inputs
    ### END SOLUTION
