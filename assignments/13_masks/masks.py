# %% [markdown]
# # 13. Masks and cross-attention
#
# Assignment 07 attends to texts of one length, each to itself. Models do more: texts of several
# lengths stand in one batch, and one text looks at another, as a translation looks at its source.
#
# A batch is one tensor, so shorter texts are filled up: that is **padding**. It must not count. Pad "Your journey starts with" to six words, with two vectors of zeros, and let each word
# attend by plain dot products: "Your" spends 0.1741 of its weight on the padding and "with" 0.2028.
# Their scores are 0, and the softmax gives every score a weight above 0.
#
# So there are several reasons to hide a key, and one function should do it for all of them. Here a
# mask has truth values: **`True` where a query may use a key**. (The second half of assignment 05 and
# `nn.MultiheadAttention` mark what to hide; mixing up the two is a frequent slip.)
#
# A new question comes with it: what if a query may use nothing at all? One empty text in a batch is
# enough. The softmax of minus infinity alone is NaN (not a number), and one NaN spoils a whole
# training.
#
# You write two masks, put them together, and write a softmax that obeys them, a layer in which one text
# looks at another, and the same with torch's own attention.
#
# **About 60 minutes, difficulty 3 of 3.** You need assignments 05 and 07.

# %% [markdown]
# ```text
# Padding has no weight
#
# Scores
#            Your  journey   starts     with      (5)      (6)
# Your       1.00     0.95     0.94     0.48        0        0
# journey    0.95     1.50     1.48     0.84        0        0
# starts     0.94     1.48     1.46     0.83        0        0
# with       0.48     0.84     0.83     0.49        0        0
#                      hidden where the mask is 0 (False)
#                                      ↓
# The mask, one row for all queries
#     Your  journey   starts     with      (5)      (6)
#     1.00     1.00     1.00     1.00        0        0
#                             softmax of each row
#                                      ↓
# Weights
#            Your  journey   starts     with      (5)      (6)   sum
# Your       0.29     0.27     0.27     0.17        0        0   1.00
# journey    0.19     0.32     0.32     0.17        0        0   1.00
# starts     0.19     0.32     0.32     0.17        0        0   1.00
# with       0.20     0.30     0.29     0.21        0        0   1.00
#
# Places 5 and 6 are padding. One row of the mask holds for all queries: it
# hides keys, and each row of weights still sums to 1.
# ```

# %%
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# %% [markdown]
# ## Two masks
#
# A mask need not be as large as the scores. torch lines shapes up **from the right**: two sizes must be
# the same, or one of them 1, which is then repeated; where a shape has no more sizes, it gets a 1. This
# is broadcasting:
#
# | | shape |
# |---|---|
# | scores | `(batch_size, num_queries, num_keys)` |
# | padding: the same for all queries of a text | `(batch_size, 1, num_keys)` |
# | causal: the same for all texts | `(num_queries, num_keys)` |
#
# The first mask hides padding. Without its 1, as `(batch_size, num_keys)`, it would be lined up as if
# its texts were queries; where there are as many texts as queries, that raises no error.


# %%
def padding_mask(lengths: Tensor, num_tokens: int) -> Tensor:
    """Which places of padded texts hold a token.

    Args:
        lengths: shape `(batch_size,)`, whole numbers: how many tokens each text has. Its padding
            comes after them.
        num_tokens: the number of places of each text, padding included.

    Returns:
        Truth values of shape `(batch_size, 1, num_tokens)`: `True` for a token, `False` for padding.

    Example:
        >>> padding_mask(torch.tensor([3, 1]), 3)
        tensor([[[ True,  True,  True]],
        <BLANKLINE>
                [[ True, False, False]]])
    """
    # TODO: compare each place, counted from 0, with the length of its text; mind the shape.
    raise NotImplementedError("13_masks/padding_mask: not attempted yet")


# %% [markdown]
# The second is the mask of assignment 05 for fewer queries than keys. A model that writes keeps the
# keys of what it has read, and only its newest tokens ask. Their queries belong to the *last* keys:
# the last query may use all of them.


# %%
def causal_mask(num_queries: int, num_keys: int) -> Tensor:
    """Which keys the last tokens of a text may use.

    Args:
        num_queries: the number of queries: those of the last tokens.
        num_keys: the number of keys: those of all tokens, so at least as many.

    Returns:
        Truth values of shape `(num_queries, num_keys)`: `True` where the key is not later than the
        query.

    Example:
        >>> causal_mask(3, 4)
        tensor([[ True,  True, False, False],
                [ True,  True,  True, False],
                [ True,  True,  True,  True]])
    """
    # TODO: keep what is not later than each query; the last query belongs to the last key.
    raise NotImplementedError("13_masks/causal_mask: not attempted yet")


# %% [markdown]
# ## Both at once
#
# A model that writes for a batch of texts needs both: no padding, and no future. A key has to pass each
# of the masks.


# %%
def combine_masks(padding: Tensor, causal: Tensor) -> Tensor:
    """Which keys each query may use that are neither padding nor later than the query.

    Both masks stay as they are.

    Args:
        padding: as from `padding_mask`, truth values of shape `(batch_size, 1, num_keys)`.
        causal: as from `causal_mask`, truth values of shape `(num_queries, num_keys)`.

    Returns:
        Truth values of shape `(batch_size, num_queries, num_keys)`: `True` where both are.

    Example:
        >>> padding = torch.tensor([[[True, True, False]]])
        >>> causal = torch.tensor([[True, False, False], [True, True, True]])
        >>> combine_masks(padding, causal)
        tensor([[[ True, False, False],
                 [ True,  True, False]]])
    """
    # TODO: let a key pass only where both masks let it pass.
    raise NotImplementedError("13_masks/combine_masks: not attempted yet")


# %% [markdown]
# ## A softmax with a mask
#
# What is hidden has a weight of exactly 0, however large its score is, and the rest of the row sums
# to 1. And where a row has nothing to see? Something has to stand there that does no harm.
#
# Mind the gradients, too. `torch.where(mask, a, b)` computes both `a` and `b`. A NaN in the one that is
# not chosen is not seen in the result, and still comes back: its gradient is 0 · NaN, and that is NaN.


# %%
def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights of the keys that may be used.

    Scores and mask stay as they are. The weights have the dtype of the scores, float16 as well.
    Gradients flow to the scores that may be used; all gradients are finite.

    Args:
        scores: shape `(batch_size, num_queries, num_keys)`.
        mask: truth values of that shape, or with a 1 in place of the first or the second size, or
            without the first axis: `True` where a key may be used.

    Returns:
        Shape `(batch_size, num_queries, num_keys)`: exactly 0 where the mask is `False`. The other
        weights of a row sum to 1. A row without any `True` has zeros: nothing is mixed in.

    Example:
        >>> mask = torch.tensor([[[True, True, False], [False, False, False]]])
        >>> masked_softmax(torch.zeros(1, 2, 3), mask)
        tensor([[[0.5000, 0.5000, 0.0000],
                 [0.0000, 0.0000, 0.0000]]])
    """
    # TODO: hide scores, softmax over the keys, and see to rows in which everything is hidden.
    raise NotImplementedError("13_masks/masked_softmax: not attempted yet")


# %% [markdown]
# ## One text looks at another
#
# To write its next word, a translation looks at its source: which words there are to be translated
# now? In cross-attention the queries come from one text, the keys and the values from another, the
# *context* (that text, not the context vectors that come out). The two may differ in their number of
# tokens and in the size of a token.
#
# The model of such a translation has two halves. The *encoder* reads the source, and each of its tokens
# may look at all others. The *decoder* writes: in each of its blocks, causal attention to what it has
# written comes first, then cross-attention, whose context is what the encoder gives, then the network
# of assignment 14. GPT has only a decoder, and no cross-attention in it.
#
# The other steps are those of assignment 07 without dropout. The mask is handed in with each batch. It
# hides the padding of the context and no future: the whole source is there before the first word of
# the translation.


# %%
class CrossAttention(nn.Module):
    """Attention of one text to another, for batches.

    Its linear layers `W_query`, `W_key` and `W_value` have no bias.

    Args:
        d_in: the size of a token of the text that asks.
        d_context: the size of a token of the text that is looked at.
        d_out: the size of queries, keys, values and context vectors.

    Example:
        >>> layer = CrossAttention(3, 4, 2)
        >>> mask = padding_mask(torch.tensor([6, 5]), 6)
        >>> layer(torch.rand(2, 5, 3), torch.rand(2, 6, 4), mask).shape
        torch.Size([2, 5, 2])
    """

    def __init__(self, d_in: int, d_context: int, d_out: int) -> None:
        super().__init__()
        # TODO: create the three linear layers; mind which text each of them reads.
        raise NotImplementedError("13_masks/CrossAttention: not attempted yet")

    def forward(self, x: Tensor, context: Tensor, mask: Tensor) -> Tensor:
        """What each token of one text finds in the other.

        The arguments stay as they are. Gradients flow to both texts and to all parameters, and are
        finite. A token that may use nothing gets zeros.

        Args:
            x: the text that asks, shape `(batch_size, num_queries, d_in)`.
            context: the text that is looked at, shape `(batch_size, num_keys, d_context)`.
            mask: as `masked_softmax` takes it: `True` where a token of `context` may be used.

        Returns:
            Shape `(batch_size, num_queries, d_out)`.
        """
        # TODO: queries, keys and values, scaled scores, masked weights, mixture of the values.
        raise NotImplementedError("13_masks/CrossAttention: not attempted yet")


# %% [markdown]
# ## The same, ready-made
#
# torch has all of this in one function, which is faster and needs less memory:
# `F.scaled_dot_product_attention`. It scales, hides, takes the softmax and mixes. Its mask of truth
# values means what yours means.


# %%
def ready_made_attention(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """What `CrossAttention` does with its queries, keys and values, by torch's own function.

    The arguments stay as they are. Gradients flow to queries, keys and values.

    Args:
        queries: shape `(batch_size, num_queries, d_k)`.
        keys: shape `(batch_size, num_keys, d_k)`.
        values: shape `(batch_size, num_keys, d_v)`.
        mask: as `masked_softmax` takes it: `True` where a key may be used.

    Returns:
        Shape `(batch_size, num_queries, d_v)`. A query that may use nothing gets zeros.

    Example:
        >>> values = torch.tensor([[[1.0], [3.0], [8.0]]])
        >>> mask = padding_mask(torch.tensor([2]), 3)
        >>> ready_made_attention(torch.zeros(1, 1, 2), torch.zeros(1, 3, 2), values, mask)
        tensor([[[2.]]])
    """
    # TODO: call `F.scaled_dot_product_attention`, and hand the mask on.
    raise NotImplementedError("13_masks/ready_made_attention: not attempted yet")
