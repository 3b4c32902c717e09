# %% [markdown]
# # 3. Trainable weights
#
# So far one vector plays three parts: it asks, it is compared, and it is what gets mixed. So all
# scores are symmetric, 1.0865 from "journey" to "step" and back, although one token may need
# another that has no use for it. And attention itself has nothing to learn: the vectors alone
# decide.
#
# Now three matrices, which training can change, make a vector for each part. The **query** is
# what a token looks for, the **key** is what it can be found by, the **value** is what it hands
# over. A search works the same way: your words are compared with the titles of pages, and what
# you get are the pages.
#
# With the random matrices of this assignment (seed 123), "journey" scores "step" 1.5440, and "step"
# scores "journey" 1.3165. With the matrix of the queries for the keys as well, both scores would be
# equal again, 1.6432. And without values, a token could only hand over the vector it came with.
#
# Nothing is trained here: the matrices stay random, and the attention weights mean nothing yet.
# "Weights" has two meanings: the numbers of a *weight matrix* are learnt; the *attention weights*
# are computed anew from the scores.
#
# **About 60 minutes, difficulty 2 of 3.** You need assignment 02.
#
# Fill in the functions below. Check your work with `grader check 03`, or in the notebook with the
# cell below each exercise.

# %% [markdown]
# ![Arrows lead from the inputs to queries, keys and values. Queries and keys meet in the scores,
# from these come the weights, and the weights mix the values to context vectors.](picture.svg)

# %%
import torch
from torch import Tensor, nn

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
# ## Step 1: three matrices
#
# A matrix of shape `(d_in, d_out)` takes vectors of size `d_in` to vectors of size `d_out`. To
# begin with, it holds random numbers.
#
# **Training** changes the numbers of the matrices a little at a time, so that one number for how
# wrong the output is, the **loss**, gets smaller. The **gradient** says which way; the
# **optimizer** makes the change. Wrapped in `nn.Parameter`, a matrix is known to torch as something
# to train. Here we only look at the numbers, so we switch its gradients off.
#
# The seed belongs before the call, not into the function: a function that seeds itself draws the
# same numbers forever. Whoever draws in another order gets other numbers from the same seed.


# %% exercise="init_weights"
def init_weights(d_in: int, d_out: int) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    """Three random weight matrices, drawn uniformly from 0 to 1, without gradients.

    Draw query, key and value in this order, each with `torch.rand`.

    Args:
        d_in: the size of a token.
        d_out: the size of a query, a key or a value.

    Returns:
        The weights for query, key and value, each an `nn.Parameter` of shape `(d_in, d_out)` that
        requires no gradient.

    Example:
        >>> _ = torch.manual_seed(123)
        >>> W_query, W_key, W_value = init_weights(3, 2)
        >>> W_query
        Parameter containing:
        tensor([[0.2961, 0.5166],
                [0.2517, 0.6886],
                [0.0740, 0.8665]])
    """
    # TODO: make one parameter each for query, key and value, in this order.
    ### BEGIN SOLUTION
    W_query = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_key = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_value = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    return W_query, W_key, W_value
    ### END SOLUTION


# %% [markdown]
# Numbers from 0 to 1 are all positive; with our positive inputs all scores are, too. Normally
# distributed numbers, with mean 0 and standard deviation 1, come in both signs. And what is to be
# trained needs gradients.


# %% exercise="init_weights_normal"
def init_weights_normal(d_in: int, d_out: int) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    """Three random weight matrices, drawn from the normal distribution, with gradients.

    Draw query, key and value in this order, each with `torch.randn`.

    Args:
        d_in: the size of a token.
        d_out: the size of a query, a key or a value.

    Returns:
        The weights for query, key and value, each an `nn.Parameter` of shape `(d_in, d_out)` that
        requires gradients.

    Example:
        A token close to "journey", with 0.64 as its last entry, and its query:

        >>> _ = torch.manual_seed(123)
        >>> W_query, W_key, W_value = init_weights_normal(3, 2)
        >>> (torch.tensor([0.55, 0.87, 0.64]) @ W_query).detach()
        tensor([-1.1489, -0.0090])
    """
    # TODO: as before, with normally distributed numbers and with gradients.
    ### BEGIN SOLUTION
    W_query = nn.Parameter(torch.randn(d_in, d_out))
    W_key = nn.Parameter(torch.randn(d_in, d_out))
    W_value = nn.Parameter(torch.randn(d_in, d_out))
    return W_query, W_key, W_value
    ### END SOLUTION


# %% [markdown]
# ## Step 2: from tokens to queries, keys and values
#
# Multiplying a token with a weight matrix **projects** it. One product does this for a single
# token and for all tokens alike, if token and weight stand in the right order.


# %% exercise="project"
def project(x: Tensor, weight: Tensor) -> Tensor:
    """One token, or all tokens, multiplied by a weight matrix.

    Tokens and weight stay as they are. Gradients flow to both. The result has their dtype.

    Args:
        x: shape `(d_in,)` or `(num_tokens, d_in)`.
        weight: shape `(d_in, d_out)`.

    Returns:
        Shape `(d_out,)` or `(num_tokens, d_out)`.

    Example:
        The query of "journey":

        >>> W_query = torch.tensor([[0.2961, 0.5166], [0.2517, 0.6886], [0.0740, 0.8665]])
        >>> project(INPUTS[1], W_query)
        tensor([0.4307, 1.4551])

        (Unrounded weights give 0.4306.)
    """
    # TODO: multiply so that one token and many tokens both work.
    ### BEGIN SOLUTION
    return x @ weight
    ### END SOLUTION


# %% [markdown]
# ## Step 3: scores
#
# A score is a dot product, as before. But now a *query* is compared with *keys*: what a token looks
# for, with what the others can be found by. "journey" and "step" no longer score each other alike.


# %% exercise="query_scores"
def query_scores(query: Tensor, keys: Tensor) -> Tensor:
    """The scores of one query, or of all queries, with all keys.

    Query and keys stay as they are. Gradients flow to both. The scores have their dtype.

    Args:
        query: shape `(d_k,)` or `(num_tokens, d_k)`.
        keys: shape `(num_tokens, d_k)`.

    Returns:
        Shape `(num_tokens,)` or `(num_tokens, num_tokens)`, with a row for each query.

    Example:
        The query of "journey" and the keys of "Your" and "journey":

        >>> query_scores(torch.tensor([0.4306, 1.4551]),
        ...              torch.tensor([[0.3669, 0.7646], [0.4433, 1.1419]]))
        tensor([1.2706, 1.8525])

        (Unrounded queries and keys give 1.2705 and 1.8524.)
    """
    # TODO: take the dot product of each query with each key. Do not scale yet.
    ### BEGIN SOLUTION
    return query @ keys.T
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** The scores of "journey" for "step" and of "step" for "journey", first with two
# matrices, then with the matrix of the queries for the keys as well. Look at both lines, then
# answer: why must both scores agree in the second one, whatever the matrix is?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     torch.manual_seed(123)
#     W_query, W_key, _ = init_weights(3, 2)
#     for matrix in (W_key, W_query):
#         scores = query_scores(project(INPUTS, W_query), project(INPUTS, matrix))
#         print(f"{scores[1, 5]:.4f}  {scores[5, 1]:.4f}")


# %% [markdown]
# ## Step 4: scaled weights
#
# `d_k` is the number of entries of a query and of a key; here it is `d_out`, 2. A dot product adds
# up `d_k` products. Where the entries of queries and keys are independent, with mean 0 and standard
# deviation 1, so are the products, and their sum has the standard deviation $\sqrt{d_k}$. It grows
# with the number of entries. This is what many random queries give, with six keys each:
#
# | `d_k` | spread of the scores | largest weight, not scaled | largest weight, scaled |
# |---|---|---|---|
# | 1 | 1 | 0.36 | 0.36 |
# | 16 | 4 | 0.78 | 0.42 |
# | 256 | 16 | 0.94 | 0.42 |
# | 4096 | 64 | 0.99 | 0.42 |
#
# (The spread is the standard deviation, and the weights are averages. The experiment below takes
# only 400 queries, so its last digit may differ.)
#
# The softmax of large scores puts nearly all weight on one token, and then it hardly reacts any
# more: a weight of 0.5 changes with its score at the rate of 0.25, a weight of 0.99 only at the
# rate of 0.0099 (the rate is $w(1-w)$). The gradient shrinks with it, and training comes to a halt.
# Dividing by the square root of `d_k` keeps the scores in range, however many entries there are:
#
# $$\text{weights} = \text{softmax}\left(\frac{\text{scores}}{\sqrt{d_k}}\right)$$
#
# Use `torch.softmax`, or your own `softmax_stable` of 01, as in assignment 02.


# %% exercise="scaled_weights"
def scaled_weights(scores: Tensor, d_k: int) -> Tensor:
    """The softmax of the scaled scores, along the last axis.

    The scores stay as they are. Gradients flow to them. The weights have the dtype of the scores.

    Args:
        scores: shape `(num_tokens,)` or `(num_tokens, num_tokens)`, with a row for each query.
        d_k: the size of a key.

    Returns:
        The shape of the scores; a vector, or each row of a matrix, sums to 1.

    Example:
        "journey" again, with keys of size 2:

        >>> scaled_weights(torch.tensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]), 2)
        tensor([0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820])
    """
    # TODO: scale the scores, then apply the softmax along the last axis.
    ### BEGIN SOLUTION
    return torch.softmax(scores / d_k**0.5, dim=-1)
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** Your code on 400 random queries, with six random keys for each. A line has the
# size `d`, the spread of the scores, the largest weight where nothing is scaled, and where it is
# (both on average). Look for what grows with `d` and for what stays, then answer: `d` grows 16-fold
# from line to line; how many times does the spread grow?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     torch.manual_seed(1)
#     for d in (1, 16, 256, 4096):
#         scores = torch.stack(
#             [query_scores(torch.randn(d), torch.randn(6, d)) for _ in range(400)]
#         )
#         largest = [scaled_weights(scores, d_k).amax(dim=-1).mean() for d_k in (1, d)]
#         print(f"{d:4}  {scores.std():5.1f}  {largest[0]:.2f}  {largest[1]:.2f}")


# %% [markdown]
# ## Step 5: the mixture
#
# What is mixed are the values, no longer the tokens themselves.


# %% exercise="weighted_values"
def weighted_values(weights: Tensor, values: Tensor) -> Tensor:
    """The values mixed by one query's weights, or by all queries' weights.

    Weights and values stay as they are. Gradients flow to both.

    Args:
        weights: shape `(num_tokens,)` or `(num_tokens, num_tokens)`, with a row for each query.
        values: shape `(num_tokens, d_out)`.

    Returns:
        Shape `(d_out,)` or `(num_tokens, d_out)`: the context vector of each query.

    Example:
        "journey" mixes the values of the sentence:

        >>> W_value = torch.tensor([[0.0756, 0.1966], [0.3164, 0.4017], [0.1186, 0.8274]])
        >>> weights = torch.tensor([0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820])
        >>> weighted_values(weights, project(INPUTS, W_value))
        tensor([0.3061, 0.8210])
    """
    # TODO: multiply each value by its weight and add the products up.
    ### BEGIN SOLUTION
    return weights @ values
    ### END SOLUTION
