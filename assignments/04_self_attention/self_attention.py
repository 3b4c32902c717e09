# %% [markdown]
# # 4. Self-attention as a module
#
# Every step is there by now: queries, keys and values, scores, weights, context vectors. Together
# they are called **self-attention**, because queries, keys and values all come from the same text.
# But the steps are loose functions, and somebody has to carry the three matrices from one to the
# next. The smallest GPT-2 has 12 attention layers: whose matrices are whose, who hands them to the
# optimizer, who saves them?
#
# A **module** does all that. It makes its matrices once, in `__init__`, and takes the steps each
# time it is called, in `forward`. You write it with bare parameters, then with linear layers, and
# then copy the weights: with the same weights, both must give the same.
#
# What breaks when a matrix is a plain tensor? It is no parameter. A correct module with `d_in` 3
# and `d_out` 2 lists 3 parameters, 18 numbers; with plain tensors it lists none, the optimizer
# (which changes the parameters in training) refuses the empty list, and nothing is saved.
#
# **About 60 minutes, difficulty 2 of 3.** You need assignment 03, and Python classes.
#
# Fill in the classes and the function below. Check your work with `grader check 04`, or in the
# notebook with the cell below each exercise.

# %% [markdown]
# ```text
# The module keeps three matrices; the words pass through
#
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                                  inputs                                  │
# │                       (num_tokens, d_in) = (6, 3)                        │
# └──────────────────────────────────────────────────────────────────────────┘
#               times what the module keeps, each (d_in, d_out)
#                                      ↓
# W_query                   W_key                     W_value
# (3, 2)                    (3, 2)                    (3, 2)
#  0.30  0.52                0.14  0.10                0.08  0.20
#  0.25  0.69                0.18  0.73                0.32  0.40
#  0.07  0.87                0.32  0.69                0.12  0.83
#                           scores, weights, mixture
#                                      ↓
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                             context vectors                              │
# │                       (num_tokens, d_out) = (6, 2)                       │
# └──────────────────────────────────────────────────────────────────────────┘
#
# Training changes these 18 numbers and nothing else.
# ```

# %%
import torch
from torch import Tensor, nn

# "Your journey starts with one step": a row for each token.
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
# ## Step 1: matrices that can be trained
#
# A tensor wrapped in `nn.Parameter` and kept as an attribute belongs to the module. An optimizer
# finds it, and it is saved with the rest; a plain tensor is overlooked. With $Q$, $K$ and $V$ for
# the queries, keys and values of all tokens, the whole layer is one line:
#
# $$\text{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Use `torch.softmax`, or your own `softmax_stable` of 01, as in assignment 02.


# %%
class SelfAttention_v1(nn.Module):
    """Self-attention with three trainable matrices.

    The matrices are `W_query`, `W_key` and `W_value`, parameters of shape `(d_in, d_out)`. They
    start as `torch.rand` draws them, in this order.

    Args:
        d_in: the size of a token.
        d_out: the size of a query, a key, a value, and a context vector.

    Example:
        >>> _ = torch.manual_seed(123)
        >>> SelfAttention_v1(3, 2)(INPUTS)
        tensor([[0.2996, 0.8053],
                [0.3061, 0.8210],
                [0.3058, 0.8203],
                [0.2948, 0.7939],
                [0.2927, 0.7891],
                [0.2990, 0.8040]], grad_fn=<MmBackward0>)
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # TODO: make W_query, W_key and W_value, each a parameter with random numbers from 0 to 1.
        raise NotImplementedError("04_self_attention/SelfAttention_v1: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of all tokens.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(num_tokens, d_in)`.

        Returns:
            Shape `(num_tokens, d_out)`: row `i` is the context vector of token `i`.
        """
        # TODO: project x three times; scores, scaled; weights; the mixture of the values.
        raise NotImplementedError("04_self_attention/SelfAttention_v1: not attempted yet")


# %% [markdown]
# ## Step 2: the same with linear layers
#
# Without a bias, an `nn.Linear` is a matrix product. It brings a start that suits training
# better: small numbers around 0, the smaller the more features a token has. With a bias, it adds
# a vector to each query, key or value; whether it does is up to `qkv_bias`.


# %%
class SelfAttention_v2(nn.Module):
    """Self-attention with three linear layers.

    The layers are `W_query`, `W_key` and `W_value`, each an `nn.Linear` from `d_in` to `d_out`,
    made in this order.

    Args:
        d_in: the size of a token.
        d_out: the size of a query, a key, a value, and a context vector.
        qkv_bias: whether the three layers have a bias.

    Example:
        >>> _ = torch.manual_seed(789)
        >>> SelfAttention_v2(3, 2)(INPUTS)
        tensor([[-0.0739,  0.0713],
                [-0.0748,  0.0703],
                [-0.0749,  0.0702],
                [-0.0760,  0.0685],
                [-0.0763,  0.0679],
                [-0.0754,  0.0693]], grad_fn=<MmBackward0>)
    """

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        # TODO: make the linear layers W_query, W_key and W_value, with a bias only if asked for.
        raise NotImplementedError("04_self_attention/SelfAttention_v2: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of all tokens.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(num_tokens, d_in)`.

        Returns:
            Shape `(num_tokens, d_out)`: row `i` is the context vector of token `i`.
        """
        # TODO: take the steps of SelfAttention_v1, with the layers in place of the matrices.
        raise NotImplementedError("04_self_attention/SelfAttention_v2: not attempted yet")


# %% [markdown]
# ## Step 3: from one into the other
#
# Without biases, the two classes compute the same. They differ in how their weights start, and in
# how they keep them: `nn.Linear(3, 2).weight` has the shape `(2, 3)`.


# %%
def copy_weights(source: SelfAttention_v2, target: SelfAttention_v1) -> None:
    """Gives the target the weights of the source, so that both answer the same.

    Args:
        source: made without biases; it stays as it is.
        target: of the same `d_in` and `d_out`; its three matrices stay parameters.

    Example:
        >>> _ = torch.manual_seed(789)
        >>> source, target = SelfAttention_v2(3, 2), SelfAttention_v1(3, 2)
        >>> copy_weights(source, target)
        >>> target(INPUTS)
        tensor([[-0.0739,  0.0713],
                [-0.0748,  0.0703],
                [-0.0749,  0.0702],
                [-0.0760,  0.0685],
                [-0.0763,  0.0679],
                [-0.0754,  0.0693]], grad_fn=<MmBackward0>)
    """
    # TODO: copy each of the three weights, turned to the layout of the target.
    raise NotImplementedError("04_self_attention/copy_weights: not attempted yet")


# %% [markdown]
# ## Step 4: another start
#
# `torch.rand` draws from 0 to 1, so all numbers of the matrices are positive at first, and with our
# positive inputs all queries and keys point in similar directions. Some programs start with
# `torch.randn` instead, which draws from the normal distribution: around 0, with both signs. You
# write that variant to recognise it: only `__init__` changes, `forward` stays as it is.


# %%
class SelfAttentionNormal(nn.Module):
    """`SelfAttention_v1` with another start: its matrices are drawn by `torch.randn`.

    Args:
        d_in: the size of a token.
        d_out: the size of a query, a key, a value, and a context vector.

    Example:
        "journey" is `[0.55, 0.87, 0.64]` here, as in the source of these numbers:

        >>> inputs = INPUTS.clone()
        >>> inputs[1, 2] = 0.64
        >>> _ = torch.manual_seed(123)
        >>> SelfAttentionNormal(3, 2)(inputs)
        tensor([[0.2848, 0.4101],
                [0.2857, 0.4106],
                [0.2856, 0.4104],
                [0.2866, 0.4004],
                [0.2865, 0.3940],
                [0.2862, 0.4069]], grad_fn=<MmBackward0>)
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # TODO: make W_query, W_key and W_value, each a parameter with normally drawn numbers.
        raise NotImplementedError("04_self_attention/SelfAttentionNormal: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of all tokens.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(num_tokens, d_in)`.

        Returns:
            Shape `(num_tokens, d_out)`: row `i` is the context vector of token `i`.
        """
        # TODO: take the steps of SelfAttention_v1.
        raise NotImplementedError("04_self_attention/SelfAttentionNormal: not attempted yet")
