# %% [markdown]
# # 16. Grouped queries
#
# A model that writes a text keeps the keys and values of every token so far, because each new token
# asks all of them. This is the **key-value cache**. Take a model of 32 layers, each with 32 heads
# and 4,096 features, at two bytes a number. For a text of 32,768 tokens its cache has 17.18 GB
# (billions of bytes), all of it read for every new token.
#
# What could be left out? A query is used once; only keys and values stay. So let several heads
# share a **key-value head**: keys and values of the size of one head. With 8 of these for 32 heads,
# four heads share each. All four have their own queries and the same keys, and the cache has 4.29
# GB. This is **grouped-query attention**. With one for all it is *multi-query attention*; with as
# many as heads it is your layer of assignment 09.
#
# You write the step that gives each head the keys of its group, and the layer. Then you make a
# grouped layer of a trained one, and count the cache.
#
# Mind the order of heads. Give a head the keys of another group, and there is no error and no wrong
# shape; a new layer even learns. But weights trained elsewhere make no sense any more.
#
# Check your work with `grader check 16`, or in the notebook with the cell below each exercise.
#
# **About 60 minutes, difficulty 3 of 3.** You need assignment 09.

# %% [markdown]
# ```text
# Neighbouring heads share keys
#
# Kept: a token's keys, once for each group
# (b, num_kv_heads, num_tokens, head_dim)
#           group 0 group 1
# feature 0   0.40   −0.30
# feature 1  −1.20    0.70
# feature 2   0.90    1.10
#                           repeat_kv for four heads
#                                      ↓
# What each head computes with
# (b, num_heads, num_tokens, head_dim)
#                   group 0         group 1
#           head 0  head 1  head 2  head 3
# feature 0   0.40    0.40   −0.30   −0.30
# feature 1  −1.20   −1.20    0.70    0.70
# feature 2   0.90    0.90    1.10    1.10
#
# Only the upper numbers stay in memory. Each head has queries of its own.
# ```

# %%
# Finds your own assignment 09 when this file is run by itself.
if __name__ == "__main__":
    from grader.notebook import use_own

    use_own("09_multi_head_attention")

# %%
import torch
from multi_head_attention import merge_heads, split_heads
from torch import Tensor, nn

# %% [markdown]
# ## Step 1: the keys of one's group
#
# With 6 heads and 2 key-value heads, each group has 6 / 2 = 3 heads. The groups stand side by side:
# heads 0, 1 and 2 use key-value head 0, and heads 3, 4 and 5 use key-value head 1. So each
# key-value head is repeated three times, right beside itself: 0 0 0 1 1 1.


# %%
def repeat_kv(x: Tensor, num_heads: int) -> Tensor:
    """The keys, or the values, that each head uses.

    They stay as they are. Gradients flow to them.

    Args:
        x: shape `(batch_size, num_kv_heads, num_tokens, head_dim)`.
        num_heads: how many heads; a multiple of `num_kv_heads`.

    Returns:
        Shape `(batch_size, num_heads, num_tokens, head_dim)`. Neighbouring heads share a key-value
        head: the first `num_heads // num_kv_heads` heads have key-value head 0, the next ones
        key-value head 1, and so on.

    Example:
        Two key-value heads for four heads; one token of two features:

        >>> repeat_kv(torch.tensor([[[[1, 2]], [[3, 4]]]]), num_heads=4)
        tensor([[[[1, 2]],
        <BLANKLINE>
                 [[1, 2]],
        <BLANKLINE>
                 [[3, 4]],
        <BLANKLINE>
                 [[3, 4]]]])
    """
    # TODO: repeat each key-value head for the heads of its group.
    raise NotImplementedError("16_grouped_queries/repeat_kv: not attempted yet")


# %% [markdown]
# ## Step 2: the layer
#
# It is your layer of assignment 09, with one change: `W_key` and `W_value` make `num_kv_heads`
# heads and no more. A head has as many features as before, `head_dim = d_out // num_heads`, because
# a query and a key must have the same size.
#
# What a cache keeps is what `keys_and_values` returns: each key-value head once. Repeating comes
# after that, in `forward`. If the repeated ones were kept, the layer would compute the same, and
# nothing would be saved.


# %%
class GroupedQueryAttention(nn.Module):
    """Causal attention with several heads, groups of which share keys and values.

    Args:
        d_in: features of a token.
        d_out: features of a context vector, all heads together; a multiple of `num_heads`.
        context_length: the most tokens a text may have.
        dropout: the probability with which an attention weight is dropped.
        num_heads: how many heads; a multiple of `num_kv_heads`.
        num_kv_heads: how many heads there are of keys and of values.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes, created in this order:
        W_query: `nn.Linear` from `d_in` to `d_out`.
        W_key, W_value: `nn.Linear` from `d_in` to `num_kv_heads * head_dim`, with
            `head_dim = d_out // num_heads`.
        out_proj: `nn.Linear` from `d_out` to `d_out`, with a bias.
        dropout: `nn.Dropout`.
        mask: a buffer, shape `(context_length, context_length)`; it says what is the future.

    Raises:
        ValueError: when `d_out` is not a multiple of `num_heads`, when `num_heads` is not a
            multiple of `num_kv_heads`, or when a text is too long. (An `assert` is just as good for
            the first two; leaving the last out costs no points.)

    Example:
        Six heads of two features; two key-value heads:

        >>> layer = GroupedQueryAttention(3, 12, 7, 0.0, num_heads=6, num_kv_heads=2)
        >>> layer(torch.rand(1, 5, 3)).shape
        torch.Size([1, 5, 12])
        >>> layer.W_key.weight.shape
        torch.Size([4, 3])
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        num_kv_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        # TODO: check that the sizes fit, then create the layers and the mask.
        raise NotImplementedError("16_grouped_queries/GroupedQueryAttention: not attempted yet")

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and the values of every token, as a cache keeps them: each head of them once.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            The keys, then the values, both of shape
            `(batch_size, num_kv_heads, num_tokens, head_dim)`.
        """
        # TODO: project, and cut into key-value heads.
        raise NotImplementedError("16_grouped_queries/GroupedQueryAttention: not attempted yet")

    def forward(self, x: Tensor) -> Tensor:
        """The context vectors of every token of every text.

        The tokens stay as they are. Gradients flow to them and to all parameters. The result has
        the dtype of both, and does not depend on earlier calls.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            Shape `(batch_size, num_tokens, d_out)`.
        """
        # TODO: queries of all heads, keys and values repeated for them; rest as in assignment 09.
        raise NotImplementedError("16_grouped_queries/GroupedQueryAttention: not attempted yet")


# %% [markdown]
# ## Step 3: from a trained layer
#
# Must a model be trained anew to have groups? No: in a trained layer, the weights for the keys of a
# group's heads are replaced by their mean, and those for the values likewise. A mean keeps something of
# each head. That is a start, not the same layer, because the heads of a group had learnt to look for
# different things; so the model is trained further for a while. In the paper of 2023
# that proposes this (see the guide), a twentieth of the first training brought the results close to
# those without groups.
#
# The rows of `W_key.weight` are the features of the keys. The first `head_dim` rows make head 0,
# the next ones head 1, just as `split_heads` cuts them. With four heads of two features in two groups:
#
# | rows | head | group |
# |---|---|---|
# | 0, 1 | 0 | 0 |
# | 2, 3 | 1 | 0 |
# | 4, 5 | 2 | 1 |
# | 6, 7 | 3 | 1 |
#
# The mean of group 0 has two rows: the mean of rows 0 and 2, and that of rows 1 and 3. The bias, if there
# is one, goes the same way.


# %%
def mha_to_gqa(state: dict[str, Tensor], num_heads: int, num_kv_heads: int) -> dict[str, Tensor]:
    """The state of a `MultiHeadAttention`, made into one of a `GroupedQueryAttention`.

    Of `W_key` and of `W_value`, weight and bias, the heads of each group are replaced by their
    mean: the first row of the mean is the mean of the first rows of these heads. All else keeps its
    values. The given state and its tensors stay as they are.

    Args:
        state: by name, as `state_dict()` of a layer of assignment 09 has it; its layers for
            queries, keys and values may have biases.
        num_heads: how many heads that layer has; a multiple of `num_kv_heads`.
        num_kv_heads: how many key-value heads there should be.

    Returns:
        A dictionary with the same names.

    Example:
        Four heads of one feature become two key-value heads:

        >>> weight = torch.tensor([[1.0, 2.0], [3.0, 6.0], [10.0, 20.0], [30.0, 60.0]])
        >>> mha_to_gqa({"W_key.weight": weight}, num_heads=4, num_kv_heads=2)["W_key.weight"]
        tensor([[ 2.,  4.],
                [20., 40.]])
    """
    # TODO: for keys and values, cut the rows into groups, heads and features; take the heads' mean.
    raise NotImplementedError("16_grouped_queries/mha_to_gqa: not attempted yet")


# %% [markdown]
# ## Step 4: count the cache
#
# For each token, each layer keeps the keys and the values of all its key-value heads. How much that
# is can be worked out from the sizes alone. No cache has to be made for it; in most machines there
# is no room for one of 17 GB.


# %%
def kv_cache_bytes(
    num_layers: int,
    num_heads: int,
    num_kv_heads: int,
    features: int,
    num_tokens: int,
    bytes_per_number: int = 2,
) -> int:
    """How many bytes the keys and values of one text take, in all layers.

    Args:
        num_layers: how many layers keep keys and values.
        num_heads: how many heads each has; they share the features.
        num_kv_heads: how many heads there are of keys and of values.
        features: of a token, all heads together: `num_heads * head_dim`.
        num_tokens: how many tokens the text has.
        bytes_per_number: 2 for bfloat16 (numbers of 16 bits), 4 for float32.

    Returns:
        A whole number. It is counted; no tensor of this size is made.

    Example:
        For each of 3 tokens, each of 2 layers keeps 2 keys and 2 values of 5 features:

        >>> kv_cache_bytes(2, num_heads=4, num_kv_heads=2, features=20, num_tokens=3)
        240
    """
    # TODO: count the numbers that are kept, and multiply by the bytes of each.
    raise NotImplementedError("16_grouped_queries/kv_cache_bytes: not attempted yet")


# %% [markdown]
# ## How much is saved
#
# The model of the beginning, with fewer and fewer key-value heads. The first two are the figures
# that you have read above.

# %%
if __name__ == "__main__":
    from grader.notebook import experiment

    with experiment():
        for num_kv_heads in (32, 8, 1):
            size = kv_cache_bytes(32, 32, num_kv_heads, 4096, 32768)
            print(f"key-value heads: {num_kv_heads:2}, cache: {size / 1e9:5.2f} GB")
