"""What the checks of assignment 16 share: grouped layers, what they keep, states, one's own parts."""

from functools import partial

import torch

from grader.testing import N_

from ..helpers import (
    LAYERS,
    OF_CONTEXT_VECTORS,
    MultiHeadLayers,
    ShowsWeights,
    attention_of_torch,
    called_unless_waiting,
    is_close,
    is_pair,
    judge_own,
    judge_tensors,
    zero_biases,
)

OF_HEADS = (N_("batch"), N_("head"), N_("token"), N_("feature"))
KEPT = (N_("the keys that are kept"), N_("the values that are kept"))


class OneKeyHead(ShowsWeights):
    """Two heads that share keys and values."""

    kv_heads = 1


class Layers(MultiHeadLayers):
    """Layers of `GroupedQueryAttention`: six heads of ten features, two key-value heads.

    Where sizes are given, and no other number of key-value heads, there is a single one.
    """

    # Neither `d_in // num_heads` nor `d_in // num_kv_heads` is 1 or `head_dim`.
    d_in, d_out, context_length, num_heads, num_kv_heads = 14, 60, 7, 6, 2
    texts = (4, 5, d_in)
    vectors = (4, 5, d_out)
    showing = OneKeyHead()

    def make(
        self,
        attempt,
        d_in,
        d_out,
        context_length,
        num_heads,
        *,
        num_kv_heads=1,
        dropout=0.0,
        seed=1,
        **how,
    ):
        """A layer of these sizes. What it takes no value for is drawn from a seed, to be known again."""
        sizes = (d_in, d_out, context_length, dropout, num_heads, num_kv_heads)
        return attempt.instance(*sizes, seed=seed, **how)

    def layer(self, attempt, **how):
        """A layer of the sizes above."""
        return super().layer(attempt, num_kv_heads=self.num_kv_heads, **how)

    def square(self, attempt, values, **how):
        """The same with as many features of a token as of a context vector."""
        return super().square(attempt, values, num_kv_heads=self.num_kv_heads, **how)

    def rows(self, layer):
        """How many rows the weight of one of the layers has."""
        head_dim = self.d_out // self.num_heads
        return head_dim * (self.num_heads if layer == "W_query" else self.num_kv_heads)

    def judge_texts(self, attempt, draw, batch_size, num_tokens):
        """Judge the context vectors of given parameters."""
        x = draw.normal(batch_size, num_tokens, self.d_in)
        called = self.given(attempt, self.drawn(draw))(x, training=False)
        called.agrees(axes=OF_CONTEXT_VECTORS)


class OneForEach(Layers):
    """As many key-value heads as heads: the layer of assignment 09."""

    num_kv_heads = Layers.num_heads


class OneForAll(Layers):
    """A single key-value head: multi-query attention."""

    num_kv_heads = 1


def by_torch(layers, values, x):
    """What torch's own attention gives.

    Args:
        layers: says how many heads there are.
        values: the parameters.
        x: the texts.
    """
    vectors, _cache = attention_of_torch(values, layers.num_heads, x, layers.num_kv_heads)
    return vectors


def judge_kept_heads(layer, x):
    """Judge what a layer that computes something says that a cache keeps."""
    layer(x, training=False).has_shape(*x.shape[:-1], Layers.d_out)
    called = layer(x, method="keys_and_values")
    judge, found = layer.judge, called.value
    judge.that(is_pair(found), "It is not a pair of keys and values", about=found)
    for what, value, right in zip(KEPT, found, called.expected, strict=True):
        judge(value, right, what=what, axes=OF_HEADS)


FUNCTIONS = (("split_heads", (3,)), ("merge_heads", ()), ("repeat_kv", (6,)))
"""What a layer may be built of, each with what it gets besides a tensor."""
LAYER = "MultiHeadAttention"
"""What it may inherit."""


class OfAssignment09(Layers):
    """A layer of assignment 09."""

    d_in, d_out, context_length, num_heads, num_kv_heads = 6, 6, 6, 3, 3
    sizes = (d_in, d_out, context_length, 0.0, num_heads)


def called_with_parts(attempt, draw, make):
    """The call that a gate judges; it waits where a part of the student's own is to blame.

    Args:
        attempt: what is judged.
        draw: what draws numbers.
        make: makes the call.
    """
    layers, x = OfAssignment09(), draw.normal(6, 6, 6)
    values = layers.drawn(draw)
    heads = x.unflatten(-1, (3, 2)).transpose(1, 2)
    tried = {"split_heads": x, "merge_heads": heads, "repeat_kv": heads}
    # The solution is asked beforehand, whatever the student's code gives.
    right = {
        name: attempt.reference.call(name, tried[name], *args).value for name, args in FUNCTIONS
    }

    def function_is_right(name, args):
        return is_close(attempt.beside(name)(tried[name], *args).value, right[name])

    def layer_is_right():
        spare = zero_biases(values)
        own = attempt.beside(LAYER).instance(*layers.sizes, given=values, spare=spare)
        return is_close(own(x, training=False).value, by_torch(layers, values, x))

    def judge_parts():
        for name, args in FUNCTIONS:
            assignment = "" if name == "repeat_kv" else "09"
            judge_own(attempt, f"`{name}`", partial(function_is_right, name, args), assignment)
        judge_own(attempt, f"`{LAYER}`", layer_is_right)

    return called_unless_waiting(make, judge_parts)


def drawn_state(draw, d_in, d_out, *, qkv_bias=True):
    """A state of a layer of assignment 09.

    Args:
        draw: what draws its numbers.
        d_in: features of a token.
        d_out: of a context vector.
        qkv_bias: whether its layers for queries, keys and values have biases.
    """
    state = {f"{name}.weight": draw.normal(d_out, d_in) for name in LAYERS}
    if qkv_bias:
        state |= {f"{name}.bias": draw.normal(d_out) for name in LAYERS}
    state["out_proj.weight"] = draw.normal(d_out, d_out)
    state["out_proj.bias"] = draw.normal(d_out)
    return state | {"mask": torch.ones(5, 5, dtype=torch.bool).triu(diagonal=1)}


def judge_state(attempt, given, *parts):
    """Judge the tensors of these layers.

    Args:
        attempt: what is judged.
        given: what the student's function gets.
        *parts: what the names of these tensors begin with.
    """
    judge_tensors(attempt, attempt(*given), lambda name: name.startswith(parts))
