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
# ![The keys of two key-value heads, and below them those of four heads: heads 0 and 1 have the keys
# of key-value head 0, heads 2 and 3 those of key-value head 1.](picture.svg)

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


# %% exercise="repeat_kv"
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
    ### BEGIN SOLUTION
    group_size = num_heads // x.shape[1]
    return x.repeat_interleave(group_size, dim=1)
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** Two key-value heads for six heads: the order of your function, and that of torch's
# `repeat`. Both have the same shape. Which heads get the keys of another group from `repeat`?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     two = torch.arange(2).reshape(1, 2, 1, 1)
#     print("yours: ", repeat_kv(two, 6).flatten().tolist())
#     print("repeat:", two.repeat(1, 3, 1, 1).flatten().tolist())

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


# %% exercise="GroupedQueryAttention"
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
        ### BEGIN SOLUTION
        if d_out % num_heads != 0:
            raise ValueError(f"d_out ({d_out}) is not a multiple of num_heads ({num_heads})")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, num_kv_heads * self.head_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length, dtype=torch.bool).triu(diagonal=1)
        self.register_buffer("mask", future)
        ### END SOLUTION

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and the values of every token, as a cache keeps them: each head of them once.

        Args:
            x: shape `(batch_size, num_tokens, d_in)`.

        Returns:
            The keys, then the values, both of shape
            `(batch_size, num_kv_heads, num_tokens, head_dim)`.
        """
        # TODO: project, and cut into key-value heads.
        ### BEGIN SOLUTION
        keys = split_heads(self.W_key(x), self.num_kv_heads)
        values = split_heads(self.W_value(x), self.num_kv_heads)
        return keys, values
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        num_tokens, context_length = x.shape[1], self.mask.shape[0]
        if num_tokens > context_length:
            raise ValueError(f"{num_tokens} tokens are more than context_length ({context_length})")
        queries = split_heads(self.W_query(x), self.num_heads)
        keys, values = self.keys_and_values(x)
        keys = repeat_kv(keys, self.num_heads)
        values = repeat_kv(values, self.num_heads)
        # (batch_size, num_heads, num_tokens, num_tokens)
        scores = queries @ keys.transpose(2, 3)
        scores = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)
        weights = torch.softmax(scores / self.head_dim**0.5, dim=-1)
        weights = self.dropout(weights)
        context = merge_heads(weights @ values)
        return self.out_proj(context)
        ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** A grouped layer with as many key-value heads as heads gets the numbers of your own
# layer of assignment 09. How far apart are their results? And how many numbers do layers with fewer
# key-value heads learn?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     from multi_head_attention import MultiHeadAttention
#
#     torch.manual_seed(123)
#     own = MultiHeadAttention(12, 12, 6, 0.0, num_heads=6)
#     layer = GroupedQueryAttention(12, 12, 6, 0.0, num_heads=6, num_kv_heads=6)
#     layer.load_state_dict(own.state_dict())
#     x = torch.rand(2, 6, 12)
#     print(f"they differ by {(layer(x) - own(x)).abs().max().item():.6f}")
#     for num_kv_heads in (6, 3, 2, 1):
#         layer = GroupedQueryAttention(12, 12, 6, 0.0, 6, num_kv_heads)
#         numbers = sum(p.numel() for p in layer.parameters())
#         print(f"key-value heads: {num_kv_heads}, numbers learnt: {numbers}")

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


# %% exercise="mha_to_gqa"
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
    ### BEGIN SOLUTION
    group_size = num_heads // num_kv_heads
    found = dict(state)
    for name, tensor in state.items():
        if name.startswith(("W_key.", "W_value.")):
            heads = tensor.unflatten(0, (num_kv_heads, group_size, -1))
            found[name] = heads.mean(dim=1).flatten(0, 1)
    return found
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** Your own layer of assignment 09, with random weights, gets fewer and fewer
# key-value heads. How far do its results move? With as many key-value heads as heads, what
# should be printed, and why?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     from multi_head_attention import MultiHeadAttention
#
#     torch.manual_seed(123)
#     own, x = MultiHeadAttention(12, 12, 6, 0.0, num_heads=6), torch.rand(2, 6, 12)
#     for num_kv_heads in (6, 3, 2, 1):
#         layer = GroupedQueryAttention(12, 12, 6, 0.0, 6, num_kv_heads)
#         layer.load_state_dict(mha_to_gqa(own.state_dict(), 6, num_kv_heads))
#         distance = (layer(x) - own(x)).abs().mean().item()
#         print(f"key-value heads: {num_kv_heads}, results moved by {distance:.4f}")

# %% [markdown]
# ## Step 4: count the cache
#
# For each token, each layer keeps the keys and the values of all its key-value heads. How much that
# is can be worked out from the sizes alone. No cache has to be made for it; in most machines there
# is no room for one of 17 GB.


# %% exercise="kv_cache_bytes"
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
    ### BEGIN SOLUTION
    head_dim = features // num_heads
    numbers = 2 * num_layers * num_kv_heads * num_tokens * head_dim
    return numbers * bytes_per_number
    ### END SOLUTION


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
