# %% [markdown]
# # 9. Multi-head attention
#
# One way to have several heads is several layers, each with its own weights, side by side. It can
# be had for less: one wide projection for the queries of *all* heads, cut into as many pieces as
# there are heads. All heads then go through the same few matrix products at once.
#
# Counted: the wrapper of assignment 08 takes 5 products for each head (queries, keys, values,
# scores, mixture), one head after the other, for 12 heads 60. The layer here takes 6, however many
# heads there are: the sixth is `out_proj`, one more linear layer at the end.
#
# Why? Side by side, what the heads found does not meet: the first features are those of the first
# head alone. `out_proj` mixes them, so that every feature that goes on can depend on all heads.
#
# And a test of your own: with the weights of the heads of assignment 08, and an `out_proj` that
# changes nothing, this layer gives what the wrapper gives. To try it, stack the weights of the
# heads by rows, and set the weight of `out_proj` to `torch.eye` and its bias to 0.
#
# Cut, score, put together again: three small functions, and then the layer. Check your work with
# `grader check 09`, or in the notebook with the cell below each exercise.
#
# **About 75 minutes, difficulty 3 of 3.** You need assignments 07 and 08.

# %% [markdown]
# ```text
# Each head works on its own piece of the features
#
# Queries
# (b, num_tokens, d_out) = (1, 3, 4)
#                head 0        head 1
# Your    −0.35   0.40  −0.57   0.27
# journey −0.30  −0.03  −0.87   0.10
# starts  −0.30  −0.02  −0.86   0.11
#      view cuts the features, transpose puts the heads before the tokens
#                                      ↓
# (num_tokens, head_dim)                 (num_tokens, head_dim)
#         head 0                                 head 1
#  −0.35   0.40                           −0.57   0.27
#  −0.30  −0.03                           −0.87   0.10
#  −0.30  −0.02                           −0.86   0.11
#
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                           queries of all heads                           │
# │                   (b, num_heads, num_tokens, head_dim)                   │
# │                               (1, 2, 3, 2)                               │
# └──────────────────────────────────────────────────────────────────────────┘
#                 in each head: scores, mask, softmax, mixture
#                                      ↓
# ┌──────────────────────────────────────────────────────────────────────────┐
# │                           context of all heads                           │
# │                   (b, num_heads, num_tokens, head_dim)                   │
# │                               (1, 2, 3, 2)                               │
# └──────────────────────────────────────────────────────────────────────────┘
#               transpose back, reshape: the pieces side by side
#                                      ↓
# Merged
# (b, num_tokens, d_out) = (1, 3, 4)
#                head 0        head 1
# Your    −0.31  −0.23   0.48   0.11
# journey −0.23   0.03   0.58   0.30
# starts  −0.21   0.12   0.61   0.37
#
# Cutting and merging change no number. Last, out_proj mixes the heads. The
# matrices are other random ones than in 08.
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
# ## Step 1: cut into heads
#
# A token has `d_out` features. Heads are counted from 0 now. The first `head_dim` of the features
# belong to head 0, the next `head_dim` to head 1, and so on. Afterwards the axis of the heads
# stands *before* the axis of the tokens, so that each head holds a matrix of its own: a row for
# each token. (In GPT-2, each of 12 heads has 64 of 768 features.)


# %%
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """The features of each token, cut into heads.

    The tokens stay as they are. Gradients flow to them.

    Args:
        x: shape `(batch_size, num_tokens, d_out)`.
        num_heads: how many heads; `d_out` is a multiple of it.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, head_dim)`, with `head_dim = d_out // num_heads`.

    Example:
        Two tokens of four features become two heads, each with a piece of both tokens:

        >>> split_heads(torch.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]]), num_heads=2)
        tensor([[[[1, 2],
                  [5, 6]],
        <BLANKLINE>
                 [[3, 4],
                  [7, 8]]]])
    """
    # TODO: cut the last axis into num_heads pieces, then bring the heads before the tokens.
    raise NotImplementedError("09_multi_head_attention/split_heads: not attempted yet")


# %% [markdown]
# ## Step 2: scores, head by head
#
# With four axes, a matrix product takes the last two for the matrices and repeats itself over the
# others: one product for each head of each text, and no loop.


# %%
def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The attention scores of every head, not scaled.

    The queries and the keys stay as they are. Gradients flow to both.

    Args:
        queries: shape `(batch_size, num_heads, num_tokens, head_dim)`.
        keys: shape `(batch_size, num_heads, num_tokens, head_dim)`.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, num_tokens)`: in each head, row `i` has the
        scores of query `i` with every key.

    Example:
        >>> a = torch.tensor([[[[0.2745, 0.6584, 0.2775, 0.8573],
        ...                     [0.8993, 0.0390, 0.9268, 0.7388],
        ...                     [0.7179, 0.7058, 0.9156, 0.4340]],
        ...                    [[0.0772, 0.3565, 0.1479, 0.5331],
        ...                     [0.4066, 0.2318, 0.4545, 0.9737],
        ...                     [0.4606, 0.5159, 0.4220, 0.5786]]]])
        >>> head_scores(a, a)
        tensor([[[[1.3208, 1.1631, 1.2879],
                  [1.1631, 2.2150, 1.8424],
                  [1.2879, 1.8424, 2.0402]],
        <BLANKLINE>
                 [[0.4391, 0.7003, 0.5903],
                  [0.7003, 1.3737, 1.0620],
                  [0.5903, 1.0620, 0.9912]]]])
    """
    # TODO: multiply the queries with the keys, the last two axes of which are swapped.
    raise NotImplementedError("09_multi_head_attention/head_scores: not attempted yet")


# %% [markdown]
# ## Step 3: put the heads together
#
# The way back: each token gets its pieces from all heads, side by side in the order of the heads.
# Swapping axes moves nothing in memory. `view` needs the numbers to lie in memory in the order of
# the axes, and after the swap they do not; use `reshape`, or `contiguous` before `view`.


# %%
def merge_heads(x: Tensor) -> Tensor:
    """What the heads have for each token, side by side: undoes `split_heads`.

    The heads stay as they are. Gradients flow to them.

    Args:
        x: shape `(batch_size, num_heads, num_tokens, head_dim)`.

    Returns:
        Shape `(batch_size, num_tokens, d_out)`, with `d_out = num_heads * head_dim`.

    Example:
        >>> merge_heads(torch.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]))
        tensor([[[1, 2, 3, 4],
                 [5, 6, 7, 8]]])
    """
    # TODO: bring the heads behind the tokens, then make one axis of the last two.
    raise NotImplementedError("09_multi_head_attention/merge_heads: not attempted yet")


# %% [markdown]
# ## Step 4: the layer
#
# Queries, keys and values are cut into heads. In each head:
#
# $$\text{weights} = \text{softmax}\left(\frac{\text{scores}}{\sqrt{\text{head\_dim}}}\right)$$
#
# with the future masked out of the scores, and dropout on the weights. The heads' context vectors
# are put together, and `out_proj`, one more linear layer, mixes what the heads have found.


# %%
class MultiHeadAttention(nn.Module):
    """Causal attention with several heads, all of them computed at once.

    Args:
        d_in: features of a token.
        d_out: features of a context vector, all heads together; a multiple of `num_heads`.
        context_length: the most tokens a text may have.
        dropout: the probability with which an attention weight is dropped.
        num_heads: how many heads.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes, created in this order:
        W_query, W_key, W_value: `nn.Linear` from `d_in` to `d_out`.
        out_proj: `nn.Linear` from `d_out` to `d_out`, with a bias.
        dropout: `nn.Dropout`.
        mask: a buffer, shape `(context_length, context_length)`; it says what is the future.

    Raises:
        ValueError: when `d_out` is not a multiple of `num_heads`, or a text is too long. (An
            `assert` is just as good for the first; leaving the second out costs no points.)

    Example:
        >>> _ = torch.manual_seed(123)
        >>> model = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
        >>> model(torch.stack((INPUTS, INPUTS)))[0].detach()
        tensor([[0.3190, 0.4858],
                [0.2943, 0.3897],
                [0.2856, 0.3593],
                [0.2693, 0.3873],
                [0.2639, 0.3928],
                [0.2575, 0.4028]])
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: check that d_out fits num_heads, then create the layers and the mask.
        raise NotImplementedError("09_multi_head_attention/MultiHeadAttention: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of every token of every text.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.
        """
        # TODO: cut into heads, scores, mask, softmax, dropout, mixture, put together, out_proj.
        raise NotImplementedError("09_multi_head_attention/MultiHeadAttention: not attempted yet")
