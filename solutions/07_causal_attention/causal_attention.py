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
# ![Arrows lead from a batch of two texts to queries, keys and values, from queries and keys to
# scores, masked scores and weights, and from weights and values to the context vectors. Each box
# has its shape.](picture.svg)

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


# %% exercise="stack_batch"
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
    ### BEGIN SOLUTION
    return torch.stack([inputs] * copies, dim=0)
    ### END SOLUTION


# %% [markdown]
# ## Step 1: self-attention for a batch
#
# With a batch in front, only the *last two* axes of the keys are to be swapped before queries and
# keys are multiplied. Each entry of the batch then has its own scores. Your `SelfAttention_v2` of
# assignment 04 is a good start: copy it. Nothing is masked yet.


# %% exercise="BatchAttention"
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
        ### BEGIN SOLUTION
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        q, k, v = (layer(x) for layer in (self.W_query, self.W_key, self.W_value))
        scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5  # (batch_size, num_tokens, num_tokens)
        return torch.softmax(scores, dim=-1) @ v
        ### END SOLUTION


# %% [markdown]
# ## Step 2: the mask, as a buffer
#
# All texts of a batch share one mask. It is made once, for `context_length` tokens. A text may be
# shorter, so only the upper left corner of the mask is used.
#
# The mask is not trained, yet it belongs to the module: registered as a **buffer**, it moves along
# when the module is moved to another device.


# %% exercise="MaskedAttention"
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
        ### BEGIN SOLUTION
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        ones = torch.ones(context_length, context_length)
        self.register_buffer("mask", torch.triu(ones, 1).bool())
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        query, key, value = (layer(x) for layer in (self.W_query, self.W_key, self.W_value))
        future = self.mask[: x.shape[1], : x.shape[1]]
        scores = query @ key.transpose(1, 2) / key.shape[-1] ** 0.5
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
        return weights @ value
        ### END SOLUTION


# %% [markdown]
# ## Step 3: dropout
#
# The whole module: `MaskedAttention`, and in training some weights are dropped after the softmax.
# This is the class that assignment 08 builds on.


# %% exercise="CausalAttention"
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
        ### BEGIN SOLUTION
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("mask", future)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        num_tokens, context_length = x.shape[1], self.mask.shape[0]
        if num_tokens > context_length:
            raise ValueError(
                f"the text has {num_tokens} tokens, the context length is {context_length}"
            )
        queries = self.W_query(x)  # (batch_size, num_tokens, d_out)
        keys = self.W_key(x)
        values = self.W_value(x)

        scores = queries @ keys.transpose(1, 2)  # (batch_size, num_tokens, num_tokens)
        scores = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        kept = self.dropout(weights)
        return kept @ values
        ### END SOLUTION
