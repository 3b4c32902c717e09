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
# ![Two maps of attention weights. Above, five tokens read at once: five rows, the future empty. Below,
# the last two of them after three that are in the cache: two rows, the same numbers.](picture.svg)

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


# %% exercise="generate"
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
    ### BEGIN SOLUTION
    for _ in range(num_new):
        scores = model(tokens)[:, -1]  # (batch_size, vocab_size)
        tokens = torch.cat([tokens, scores.argmax(dim=-1, keepdim=True)], dim=1)
    return tokens
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** How many tokens does the model read, to write eight? Each token was read before, but
# for the last one. What grows faster: the text, or the work?

# %% active="ipynb"
# from grader.notebook import experiment
#
# with experiment():
#     model, read = SumModel(vocab_size=10, context_length=20, features=8), []
#
#     def counting(tokens):
#         read.append(tokens.shape[1])
#         return model(tokens)
#
#     generate(counting, torch.tensor([[3]]), num_new=8)
#     print("tokens read:", *read, "together:", sum(read))

# %% [markdown]
# ## Step 2: keep keys and values
#
# A new token's query asks the keys of all tokens before it, and mixes their values. So keys and values
# are kept. The queries of earlier tokens are not needed again: their context vectors are computed.


# %% exercise="append_to_cache"
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
    ### BEGIN SOLUTION
    if cache is None:
        return keys, values
    past_keys, past_values = cache
    return torch.cat([past_keys, keys], dim=2), torch.cat([past_values, values], dim=2)
    ### END SOLUTION


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


# %% exercise="CachedAttention"
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
        ### BEGIN SOLUTION
        self.context_length = context_length
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        queries = split_heads(self.W_query(x), self.num_heads)
        new_keys = split_heads(self.W_key(x), self.num_heads)
        new_values = split_heads(self.W_value(x), self.num_heads)
        # (batch_size, num_heads, num_past + num_new, head_dim)
        keys, values = append_to_cache(cache, new_keys, new_values)
        num_new, num_tokens = x.shape[1], keys.shape[2]
        if num_tokens > self.context_length:
            raise ValueError(f"{num_tokens} tokens are more than {self.context_length}")
        # (batch_size, num_heads, num_new, num_past + num_new)
        scores = queries @ keys.transpose(2, 3) / keys.shape[-1] ** 0.5
        mask = causal_mask(num_new, num_tokens)
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        context = merge_heads(self.dropout(weights) @ values)
        return self.out_proj(context), (keys, values)
        ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** Your layer of assignment 09 reads seven tokens at once. The new layer has its parameters,
# and reads three and then four. How far are both apart, and why not more? (`strict=False`: one of the two
# may keep its mask as a buffer, and the other not.)

# %% active="ipynb"
# from multi_head_attention import MultiHeadAttention
#
# with experiment():
#     layer = MultiHeadAttention(6, 12, 7, 0.0, num_heads=3)
#     cached = CachedAttention(6, 12, 7, 0.0, num_heads=3)
#     cached.load_state_dict(layer.state_dict(), strict=False)
#     x = torch.rand(2, 7, 6)
#     first, cache = cached(x[:, :3])
#     last, cache = cached(x[:, 3:], cache)
#     gap = (torch.cat([first, last], dim=1) - layer(x)).abs().max()
#     print(f"at most {gap.item():.6f} apart")

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


# %% exercise="generate_cached"
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
    ### BEGIN SOLUTION
    unread, place, caches = tokens, 0, None
    for _ in range(num_new):
        scores, caches = model(unread, place, caches)
        place += unread.shape[1]
        unread = scores[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, unread], dim=1)
    return tokens
    ### END SOLUTION


# %% [markdown] active="ipynb"
# **Experiment.** The same texts, written without the cache and with it, and the multiplications of
# matrix products, which torch counts itself. How does each of the two numbers grow from line to line?

# %% active="ipynb"
# from torch.utils.flop_counter import FlopCounterMode
#
# with experiment():
#     model, prompt = Model(10, context_length=64, features=96, num_heads=3), torch.tensor([[3]])
#     for num_new in (1, 2, 4, 8, 16, 32):
#         with FlopCounterMode(display=False) as plain:
#             without = generate(lambda tokens: model(tokens)[0], prompt, num_new)
#         with FlopCounterMode(display=False) as cached:
#             with_cache = generate_cached(model, prompt, num_new)
#         counts = [counter.get_total_flops() // 2 for counter in (plain, cached)]
#         print(f"{num_new} new tokens: {counts[0]:,} without, {counts[1]:,} with the cache;"
#               f" the same: {torch.equal(without, with_cache)}")
