# %% [markdown]
# # 7. Causal attention
#
# Assignments 03 to 06 are pieces in four files, and they take one text at a time. Models read
# many texts at once, in training as in use, or most of the processor would stand idle.
#
# Everything so far in one module: trainable queries, keys and values, the causal mask, dropout on
# the weights. And one thing more: several texts at once, a **batch**.
#
# Pieces that worked alone break in a batch. `keys.T` reverses all axes: keys of shape `(4, 6, 2)`,
# four texts of six tokens, become `(2, 6, 4)`. The texts are now the last axis, and the product
# with the queries fails. A mask made for 6 tokens does not fit a text of 4. And a mask that the
# module does not know of stays behind when the module moves to another device.
#
# So the module grows in three steps, each with a verdict of its own: a batch, the mask, dropout.
# You may begin each class as a copy of the one before, or inherit from it.
#
# **About 75 minutes, difficulty 3 of 3.** You need assignments 04, 05 and 06.

# %% [markdown]
# ```text
# Two texts at once, each with scores of its own
#
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                                  inputs                                  │
# │                    (b, num_tokens, d_in) = (2, 4, 3)                     │
# └──────────────────────────────────────────────────────────────────────────┘
#             │                         │                         │
#             ▼                         ▼                         ▼
# ┌──────────────────────┐  ┌──────────────────────┐  ┌──────────────────────┐
# │       queries        │  │         keys         │  │        values        │
# │      (2, 4, 2)       │  │      (2, 4, 2)       │  │      (2, 4, 2)       │
# └──────────────────────┘  └──────────────────────┘  └──────────────────────┘
#             │                         │                         │
#             ▼                         ▼                         │
# ┌────────────────────────────────────────────────┐              │
# │                     scores                     │              │
# │                   (2, 4, 4)                    │              │
# │             a square for each text             │              │
# └────────────────────────────────────────────────┘              │
#                          │                                      │
#                          ▼                                      │
# ┌────────────────────────────────────────────────┐              │
# │                 masked scores                  │              │
# │                   (2, 4, 4)                    │              │
# │  the mask is a buffer of (6, 6); its first 4   │              │
# │    rows and columns are used for both texts    │              │
# └────────────────────────────────────────────────┘              │
#                          │                                      │
#                          ▼                                      │
# ┌────────────────────────────────────────────────┐              │
# │                    weights                     │              │
# │                   (2, 4, 4)                    │              │
# │            scaled, softmax, dropout            │              │
# └────────────────────────────────────────────────┘              │
#                          │                                      │
#                          ▼                                      ▼
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                             context vectors                              │
# │                    (b, num_tokens, d_out) = (2, 4, 2)                    │
# └──────────────────────────────────────────────────────────────────────────┘
#
# b is the number of texts. No product mixes one text with the other.
# ```

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
# ## A batch
#
# A batch has a new first axis: `(batch_size, num_tokens, d_in)`. Here all texts of a batch have the
# same length. To try it out, the same sentence twice will do.


# %%
def stack_batch(inputs: Tensor, copies: int) -> Tensor:
    """A batch of equal texts.

    Args:
        inputs: shape `(num_tokens, d_in)`.
        copies: how many times the text is in the batch.

    Returns:
        Shape `(copies, num_tokens, d_in)`: each entry along the first axis is `inputs`.

    Example:
        >>> stack_batch(INPUTS, 2).shape
        torch.Size([2, 6, 3])
    """
    # TODO: put the copies one behind the other along a new first axis.
    raise NotImplementedError("07_causal_attention/stack_batch: not attempted yet")


# %% [markdown]
# ## Step 1: self-attention for a batch
#
# With a batch in front, only the *last two* axes of the keys are to be swapped before queries and
# keys are multiplied. Each entry of the batch then has its own scores. Your `SelfAttention_v2` of
# assignment 04 is a good start: copy it. Nothing is masked yet.


# %%
class BatchAttention(nn.Module):
    """Self-attention for batches: what `SelfAttention_v2` does, for each text by itself.

    Its linear layers `W_query`, `W_key` and `W_value` are created in this order.

    Args:
        d_in: the size of a token.
        d_out: the size of queries, keys, values and context vectors.
        qkv_bias: whether the three linear layers have a bias.

    Example:
        >>> _ = torch.manual_seed(789)
        >>> attention = BatchAttention(3, 2)
        >>> attention(stack_batch(INPUTS, 2))[1, 0]
        tensor([-0.0739,  0.0713], grad_fn=<SelectBackward0>)
    """

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        # TODO: create the three linear layers.
        raise NotImplementedError("07_causal_attention/BatchAttention: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of a batch, in which every token sees its whole text.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.
        """
        # TODO: scores from queries and keys, scaled softmax, mixture of the values.
        raise NotImplementedError("07_causal_attention/BatchAttention: not attempted yet")


# %% [markdown]
# ## Step 2: the mask, as a buffer
#
# All texts of a batch share one mask. It is made once, for `context_length` tokens. A text may be
# shorter, so only the upper left corner of the mask is used.
#
# The mask is not trained, yet it belongs to the module: registered as a **buffer**, it moves along
# when the module is moved to another device.


# %%
class MaskedAttention(nn.Module):
    """`BatchAttention`, but no token looks ahead.

    Its linear layers `W_query`, `W_key` and `W_value` are created in this order, and `mask` is a
    buffer.

    Args:
        d_in: the size of a token.
        d_out: the size of queries, keys, values and context vectors.
        context_length: the largest number of tokens of a text.
        qkv_bias: whether the three linear layers have a bias.

    Example:
        >>> _ = torch.manual_seed(123)
        >>> attention = MaskedAttention(3, 2, context_length=6)
        >>> attention(stack_batch(INPUTS, 2))[0, 0]
        tensor([-0.4519,  0.2216], grad_fn=<SelectBackward0>)
    """

    mask: Tensor

    def __init__(self, d_in: int, d_out: int, context_length: int, qkv_bias: bool = False) -> None:
        super().__init__()
        # TODO: create the three linear layers and the buffer for the mask.
        raise NotImplementedError("07_causal_attention/MaskedAttention: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of a batch, in which no token sees a later one.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`, with at most `context_length` tokens.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.
        """
        # TODO: scores from queries and keys, mask, scaled softmax, mixture of the values.
        raise NotImplementedError("07_causal_attention/MaskedAttention: not attempted yet")


# %% [markdown]
# ## Step 3: dropout
#
# The whole module: `MaskedAttention`, and in training some weights are dropped after the softmax.
# This is the class that assignment 08 builds on.


# %%
class CausalAttention(nn.Module):
    """Self-attention in which no token looks ahead, for batches.

    Its linear layers `W_query`, `W_key` and `W_value` are created in this order, `dropout` is an
    `nn.Dropout`, and `mask` a buffer.

    Args:
        d_in: the size of a token.
        d_out: the size of queries, keys, values and context vectors.
        context_length: the largest number of tokens of a text.
        dropout: the probability with which an attention weight is dropped in training.
        qkv_bias: whether the three linear layers have a bias.

    Example:
        >>> _ = torch.manual_seed(123)
        >>> attention = CausalAttention(3, 2, context_length=6, dropout=0.0)
        >>> attention(stack_batch(INPUTS, 2))[0, 0]
        tensor([-0.4519,  0.2216], grad_fn=<SelectBackward0>)
    """

    mask: Tensor

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        # TODO: create the three linear layers, the dropout layer and the buffer for the mask.
        raise NotImplementedError("07_causal_attention/CausalAttention: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of a batch.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`, with at most `context_length` tokens.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.

        Raises:
            ValueError: when there are more tokens than `context_length`. (Leaving
                this out costs no points.)
        """
        # TODO: scores from queries and keys, mask, scaled softmax, dropout, mixture of the values.
        raise NotImplementedError("07_causal_attention/CausalAttention: not attempted yet")
