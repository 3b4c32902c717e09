# %% [markdown]
# # 15. The key-value cache
#
# A model writes one token after the other. Each time it reads the whole text again, though nothing
# before the new token has changed: the causal mask hides later tokens from earlier ones, so their
# keys and values stay as they were.
#
# Counted: after a text of 100 tokens, 100 more are written. Read from the start each time, that is
# 100 + 101 + … + 199 = 14,950 tokens. Whoever keeps keys and values reads 100 tokens, and then one
# for each step but the last: 199, a 75th of that. What is kept is the **key-value cache**. It costs
# memory: in GPT-2's small model 2 · 12 · 768 = 18,432 numbers for each token (keys and values, layers,
# features); at 4 bytes each, 72 MiB for 1024 tokens.
#
# With a cache, some mistakes raise no error: new tokens see too much, their places are counted from 0
# again, two texts share one cache. So here the cache goes in as an argument and comes back as a
# result: whoever calls your layer can look at it, keep two, or go on with somebody else's.
#
# You write the loop that writes texts, the step that makes a cache longer, the layer, and the loop with
# the cache, which writes the same. Check your work with `grader check 15`, or in
# the notebook with the cell below each exercise.
#
# **About 75 minutes, difficulty 3 of 3.** You need assignments 09 and 13.

# %% [markdown]
# ```text
# New tokens need their own rows, and the keys and values of all
#
# Five tokens at once
#            Your  journey   starts     with      one
# Your       1.00        ·        ·        ·        ·
# journey    0.37     0.63        ·        ·        ·
# starts     0.23     0.39     0.38        ·        ·
# with       0.20     0.30     0.29     0.21        ·
# one        0.18     0.22     0.23     0.16     0.22
#                three tokens are in the cache, and two are new
#                                      ↓
# The two new tokens
#         Your  journey   starts     with      one
# with    0.20     0.30     0.29     0.21        ·
# one     0.18     0.22     0.23     0.16     0.22
# ```

# %%
# Finds your own assignment 09 and 13 when this file is run by itself.
if __name__ == "__main__":
    from grader.notebook import use_own

    use_own("09_multi_head_attention")
    use_own("13_masks")

# %%
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]

# %% [markdown]
# ## Step 1: write a text
#
# A model reads tokens, as numbers. After each of them it gives a score (a *logit*) for every token that
# could come next. Only the scores after the *last* token say something new. The token with the largest score is appended, and
# the longer text is read again. Always taking the largest is called **greedy**.
#
# To begin with, here is a model without attention. It adds up what it knows of the tokens so far.


# %%
class SumModel(nn.Module):
    """Scores for the token to come next, from the sum of all tokens so far and their places.

    Args:
        vocab_size: how many tokens there are.
        context_length: the most tokens a text may have.
        features: of a token.
    """

    def __init__(self, vocab_size: int, context_length: int, features: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.head = nn.Linear(features, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """The scores, `(batch_size, num_tokens, vocab_size)`."""
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(x.cumsum(dim=1))


# %%
def generate(model: Callable[[Tensor], Tensor], tokens: Tensor, num_new: int) -> Tensor:
    """The texts, each with the tokens that the model writes after it, greedily.

    The texts that are given stay as they are.

    Args:
        model: called with texts, it gives scores of shape `(batch_size, num_tokens, vocab_size)`.
        tokens: the texts so far, shape `(batch_size, num_tokens)`, whole numbers.
        num_new: how many tokens to write.

    Returns:
        Shape `(batch_size, num_tokens + num_new)`: the texts so far, and behind them the new tokens.

    Example:
        A model that always gives its largest score to the next number, of 10 numbers:

        >>> def count_on(tokens):
        ...     return nn.functional.one_hot((tokens + 1) % 10, 10).float()
        >>> generate(count_on, torch.tensor([[3, 4], [0, 8]]), num_new=3)
        tensor([[3, 4, 5, 6, 7],
                [0, 8, 9, 0, 1]])
    """
    # TODO: as often as asked: scores of the whole text, the best token after its end, append it.
    raise NotImplementedError("15_cache/generate: not attempted yet")


# %% [markdown]
# ## Step 2: keep keys and values
#
# A new token's query asks the keys of all tokens before it, and mixes their values. So keys and values
# are kept. The queries of earlier tokens are not needed again: their context vectors are computed.


# %%
def append_to_cache(cache: Cache | None, keys: Tensor, values: Tensor) -> Cache:
    """The cache with the keys and values of new tokens behind those that it has.

    The cache that is given stays as it is.

    Args:
        cache: keys and values of the tokens before, or `None` at the beginning of a text.
        keys: of the new tokens, shape `(batch_size, num_heads, num_new, head_dim)`.
        values: of the new tokens, the same shape.

    Returns:
        All keys and all values: two tensors of shape
        `(batch_size, num_heads, num_past + num_new, head_dim)`.

    Example:
        One head of one feature. Two tokens are there, and a third one comes:

        >>> cache = torch.tensor([[[[1], [2]]]]), torch.tensor([[[[5], [6]]]])
        >>> append_to_cache(cache, torch.tensor([[[[3]]]]), torch.tensor([[[[7]]]]))
        (tensor([[[[1],
                  [2],
                  [3]]]]), tensor([[[[5],
                  [6],
                  [7]]]]))
    """
    # TODO: at the beginning there is nothing else; later, put the new ones behind, along the tokens.
    raise NotImplementedError("15_cache/append_to_cache: not attempted yet")


# %% [markdown]
# ## Step 3: the layer
#
# It is your layer of assignment 09, with the same parameters: what that one has learnt can be loaded here.
# What is new: it gets a cache, computes queries, keys and values of the *new* tokens alone, and gives
# back the longer cache beside the context vectors.
#
# A new token may use itself and what came before. Where several new tokens come at once, as those of the
# text do that is given at the start (the *prompt*), the first of them must not see the second. That is
# your `causal_mask` of assignment 13: its queries are those of the new tokens, its keys those of all.
#
# Where the tokens in the cache and the new ones are more than `context_length`, the layer raises a
# `ValueError`. To drop the oldest ones instead would change what comes out, and nobody would notice.

# %%
from masks import causal_mask
from multi_head_attention import merge_heads, split_heads


# %%
class CachedAttention(nn.Module):
    """Your multi-head attention, for texts that come piece by piece.

    Args:
        d_in: features of a token.
        d_out: features of a context vector, all heads together; a multiple of `num_heads`.
        context_length: the most tokens a text may have, those in the cache counted.
        dropout: the probability with which an attention weight is dropped.
        num_heads: how many heads.
        qkv_bias: whether the layers for queries, keys and values have biases.

    Attributes:
        W_query, W_key, W_value: `nn.Linear` from `d_in` to `d_out`.
        out_proj: `nn.Linear` from `d_out` to `d_out`, with a bias.

    Example:
        Three tokens, and then a fourth:

        >>> layer = CachedAttention(6, 12, 5, 0.0, num_heads=3)
        >>> y, cache = layer(torch.rand(2, 3, 6))
        >>> y, cache = layer(torch.rand(2, 1, 6), cache)
        >>> y.shape, cache[0].shape, cache[1].shape
        (torch.Size([2, 1, 12]), torch.Size([2, 3, 4, 4]), torch.Size([2, 3, 4, 4]))
    """

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
        # TODO: create the layers, as in assignment 09.
        raise NotImplementedError("15_cache/CachedAttention: not attempted yet")

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """The context vectors of the new tokens, and the cache with these tokens in it.

        Tokens and cache stay as they are. What comes back depends on both and on the parameters alone,
        not on earlier calls. Keys and values are computed of the new tokens alone: a step costs little
        more when the text has become longer.

        Args:
            x: the new tokens, shape `(batch_size, num_new, d_in)`.
            cache: keys and values of the tokens before, or `None` at the beginning of a text.

        Returns:
            The context vectors, shape `(batch_size, num_new, d_out)`, and a pair: all keys and all
            values, each of shape `(batch_size, num_heads, num_past + num_new, head_dim)`.

        Raises:
            ValueError: when the tokens in the cache and the new ones are more than `context_length`.
        """
        # TODO: queries, keys, values of the new tokens; longer cache; scores, mask, mixture, out_proj.
        raise NotImplementedError("15_cache/CachedAttention: not attempted yet")


# %% [markdown]
# ## Step 4: write with the cache
#
# Here is a model of your layers. It needs a cache for each of them, and it takes and gives them as a list.
# It also needs to know the place (the *position*) where its tokens begin: a new token after seven others
# is at place 7, and nothing in the token itself says so.
#
# Reading the whole prompt at once is called *prefill*; reading one new token after the other, *decode*.


# %%
class Model(nn.Module):
    """Scores for the token to come next, by layers of your `CachedAttention`.

    Args:
        vocab_size: how many tokens there are.
        context_length: the most tokens a text may have.
        features: of a token.
        num_heads: how many heads each layer has.
        num_layers: how many layers.
    """

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        features: int,
        num_heads: int,
        num_layers: int = 2,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, features)
        self.places = nn.Embedding(context_length, features)
        self.layers = nn.ModuleList(
            CachedAttention(features, features, context_length, 0.0, num_heads)
            for _layer in range(num_layers)
        )
        self.head = nn.Linear(features, vocab_size)

    def forward(
        self, tokens: Tensor, place: int = 0, caches: Sequence[Cache | None] | None = None
    ) -> tuple[Tensor, list[Cache]]:
        """The scores after each of these tokens, and a cache for each layer.

        Args:
            tokens: those to read, shape `(batch_size, num_new)`.
            place: of the first of them in its text, counted from 0.
            caches: of the tokens before, one for each layer; `None` at the beginning of a text.

        Returns:
            Scores of shape `(batch_size, num_new, vocab_size)`, and the caches to go on with.
        """
        places = torch.arange(place, place + tokens.shape[1])
        x = self.tokens(tokens) + self.places(places)
        kept = []
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers), strict=True):
            found, cache = layer(x, cache)
            x = x + found
            kept.append(cache)
        return self.head(x), kept


# %%
def generate_cached(model: Model, tokens: Tensor, num_new: int) -> Tensor:
    """The texts, each with the tokens that the model writes after it, greedily; no token is read twice.

    What comes back is what `generate` gives. The texts that are given stay as they are. The model never
    reads a token again whose keys and values are in the caches. It does not read the last new token either:
    nobody asks for its scores. One more token costs one more step.

    Args:
        model: a `Model`, called as its `forward` says.
        tokens: the texts so far, shape `(batch_size, num_tokens)`, whole numbers.
        num_new: how many tokens to write, at least one.

    Returns:
        Shape `(batch_size, num_tokens + num_new)`: the texts so far, and behind them the new tokens.

    Example:
        >>> model = Model(vocab_size=10, context_length=8, features=6, num_heads=3)
        >>> generate_cached(model, torch.tensor([[3, 1, 4]]), num_new=5).shape
        torch.Size([1, 8])
    """
    # TODO: let the model read the texts; then, as often as needed, the newest token at its place.
    raise NotImplementedError("15_cache/generate_cached: not attempted yet")
