"""What the checks of assignment 15 share: layers and models with given parameters, what waits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from grader.testing import N_, StudentOutcome

from ..helpers import (
    LAYERS,
    MultiHeadLayers,
    attention_of_torch,
    called_unless_waiting,
    is_close,
    is_pair,
    judge_own,
    judge_vectors,
    linear_parameters,
    prefixed,
)

VOCAB_SIZE, CONTEXT_LENGTH, FEATURES, NUM_HEADS = 11, 9, 12, 3
MODEL_SIZES = (VOCAB_SIZE, CONTEXT_LENGTH, FEATURES, NUM_HEADS)
LONG = 4 * VOCAB_SIZE
"""The tokens of a long text or cache: what is cut to fewer shows."""

OF_TEXTS = (N_("text"), N_("place"))
OF_CACHES = (N_("batch"), N_("head"), N_("token"), N_("feature"))
KEYS, VALUES = N_("the keys in the cache"), N_("the values in the cache")


class Layers(MultiHeadLayers):
    """Layers of `CachedAttention`, and what they read piece by piece."""

    def make(self, attempt, d_in, d_out, context_length, num_heads, *, dropout=0.0, **how):
        """A layer of these sizes."""
        return attempt.instance(d_in, d_out, context_length, dropout, num_heads, **how)

    def read(self, layer, x, cache=None, **how):
        """The context vectors of new tokens and the cache to go on with, judged to be a pair.

        Args:
            layer: the student's.
            x: the new tokens.
            cache: of the tokens before.
            **how: what a call takes besides.
        """
        args = (x,) if cache is None else (x, cache)
        called = layer(*args, training=False, **how)
        return *self.pair(layer.judge, called.value), called

    def pair(self, judge, value):
        """The context vectors and the cache that a call returned."""
        sentence = N_("It should return two things: the context vectors and the cache")
        judge.that(is_pair(value), sentence, about=value)
        return value

    def goes_on(self, attempt, values, x, first):
        """Whether the first three tokens are right, and those that come after them with a cache.

        Args:
            attempt: of the layer.
            values: its parameters.
            x: the whole texts.
            first: what it gave for the first three tokens.
        """
        right, cache = attention_of_torch(values, self.num_heads, x)
        past = tuple(tensor[:, :, :3] for tensor in cache)
        try:
            last = self.given(attempt, values)(x[:, 3:], past, training=False).value
        except StudentOutcome:
            return False
        return all(
            is_pair(found) and is_close(found[0], vectors)
            for found, vectors in ((first, right[:, :3]), (last, right[:, 3:]))
        )

    def judge_cache(self, judge, cache, right):
        """Judge keys and values."""
        sentence = N_("The cache should be a pair: the keys and the values, and nothing else")
        judge.that(is_pair(cache), sentence, about=cache)
        for found, tensor, what in zip(cache, right, (KEYS, VALUES), strict=True):
            judge(found, tensor, what=what, axes=OF_CACHES)

    def judge_pieces(self, layer, values, x, sizes, between=None):
        """Judge what a layer finds in texts that come in pieces; the last cache comes back.

        Args:
            layer: the student's.
            values: its parameters.
            x: the whole texts.
            sizes: how many tokens each piece has.
            between: another text, which the layer reads by itself after the first piece.
        """
        right, cache, start = attention_of_torch(values, self.num_heads, x)[0], None, 0
        for size in sizes:
            if between is not None and start == sizes[0]:
                self.read(layer, between)
            end = start + size
            vectors, cache, _called = self.read(layer, x[:, start:end], cache)
            judge_vectors(layer.judge, vectors, right, start, end)
            start = end
        return cache


@dataclass(frozen=True)
class Part:
    """What an exercise needs of the student's own: a function, and what it should give.

    Args:
        name: of the function.
        is_right: says whether the student's own gives what it should; it is called with `attempt`.
        assignment: the number of the one that it is of; "" for this one.
        by: what else the check calls that may use it.
    """

    name: str
    is_right: Callable[[Any], bool]
    assignment: str = ""
    by: tuple[str, ...] = ()


def gives(name, args, right):
    """Says whether a function gives this for these arguments."""

    def is_right(attempt):
        value = attempt.beside(name)(*args).value
        if isinstance(right, tuple):
            return is_pair(value) and all(map(is_close, value, right))
        return is_close(value, right)

    return is_right


def parts_of_the_layer(draw):
    """What `CachedAttention` may use of the student's own."""
    x = draw.normal(2, 5, 12)
    heads, values = (
        each.unflatten(-1, (3, 4)).transpose(1, 2) for each in (x, draw.normal(2, 5, 12))
    )
    whole = (heads, values)
    past, new = (tuple(each[:, :, piece] for each in whole) for piece in (slice(3), slice(3, None)))
    mask = torch.ones(2, 5, dtype=torch.bool).tril(3)
    return [
        Part("split_heads", gives("split_heads", (x, 3), heads), "09"),
        Part("merge_heads", gives("merge_heads", (heads,), x), "09"),
        Part("append_to_cache", gives("append_to_cache", (None, *new), new)),
        Part("append_to_cache", gives("append_to_cache", (past, *new), whole)),
        Part("causal_mask", gives("causal_mask", (2, 5), mask), "13"),
    ]


def part_of_the_model(draw):
    """The student's own layer, as a model of it uses it."""
    layers = Layers()
    values, x = layers.drawn(draw, layers.d_out), draw.normal(*layers.vectors)
    right, _cache = attention_of_torch(values, layers.num_heads, x)

    def is_right(attempt):
        layer, cache = layers.square(attempt.beside("CachedAttention"), values), None
        # Twice: a cache that it keeps itself shows when another text begins.
        for start, end in 2 * ((0, 2), (2, 3), (3, 5)):
            cache = cache if start else None
            value = layer(x[:, start:end], cache, training=False).value
            if not is_pair(value) or not is_close(value[0], right[:, start:end]):
                return False
            cache = value[1]
        return True

    return Part("CachedAttention", is_right, by=("Model",))


def called_with(attempt, make, parts, is_right):
    """What a gate judges; it waits where a part of the student's own is to blame.

    Args:
        attempt: what is judged.
        make: makes the call.
        parts: what it needs.
        is_right: says whether what came back is right.
    """
    return called_unless_waiting(make, partial(judge_parts, attempt, parts), is_right)


def judge_parts(attempt, parts):
    """End the check where a part is not right."""
    for part in parts:
        is_right = partial(part.is_right, attempt)
        judge_own(attempt, f"`{part.name}`", is_right, part.assignment, part.by)


def texts(draw, batch_size, num_tokens):
    """Texts, as numbers of tokens; none comes again before all others have come."""
    return torch.stack([in_turn(draw, num_tokens) for _ in range(batch_size)])


def in_turn(draw, num_tokens):
    """So many tokens, all of the vocabulary in turn."""
    rounds = range(0, num_tokens, VOCAB_SIZE)
    return torch.cat([draw.permutation(VOCAB_SIZE) for _ in rounds])[:num_tokens]


def by_place(draw, num_places):
    """Values for a `SumModel` that goes by places alone, and writes each token of the vocabulary."""
    scores = torch.nn.functional.one_hot(in_turn(draw, num_places), FEATURES).float()
    return {
        "tokens.weight": torch.zeros(VOCAB_SIZE, FEATURES),
        "places.weight": scores.diff(dim=0, prepend=torch.zeros(1, FEATURES)),
        "head.weight": torch.eye(VOCAB_SIZE, FEATURES),
        "head.bias": torch.zeros(VOCAB_SIZE),
    }


def embeddings(draw, num_places=CONTEXT_LENGTH):
    """Values for what every model has: tables of tokens and places, and a head."""
    return {
        "tokens.weight": draw.normal(VOCAB_SIZE, FEATURES),
        "places.weight": draw.normal(num_places, FEATURES),
        **prefixed("head", linear_parameters(draw, FEATURES, VOCAB_SIZE, 0.8)),
    }


def model_parameters(draw, num_places=CONTEXT_LENGTH):
    """Values for the parameters of a `Model`."""
    found = embeddings(draw, num_places)
    for number in range(2):
        layer = {f"{name}.weight": draw.normal(FEATURES, FEATURES, std=0.4) for name in LAYERS}
        layer |= prefixed("out_proj", linear_parameters(draw, FEATURES, FEATURES, 0.4))
        found |= prefixed(f"layers.{number}", layer)
    return found


def made(attempt, name, values, *sizes):
    """A model of the stub's, with these parameters."""
    spare = {
        key.replace("out_proj", layer): torch.zeros_like(value)
        for key, value in values.items()
        if key.endswith("out_proj.bias")
        for layer in LAYERS
    }
    return attempt.of(name).instance(*sizes, given=values, spare=spare)


class Writes:
    """How a text is written, by the student's function and the solution's."""

    def written(self, attempt, model, tokens, num_new, **how):
        """What the student's function writes with a model.

        Args:
            attempt: of the function.
            model: an instance beside the solution's.
            tokens: the texts so far.
            num_new: how many tokens to write.
            **how: what a call takes besides.
        """
        return attempt.student.call(attempt.name, model.own, tokens, num_new, **how)

    def judge_long(self, attempt, draw, batch_size, num_tokens):
        """Judge long texts, of all tokens in turn: each is written once more, with another behind it."""
        num_new = VOCAB_SIZE + 2
        num_places = num_tokens + num_new
        model = made(
            attempt, "SumModel", by_place(draw, num_places), VOCAB_SIZE, num_places, FEATURES
        )
        self.judge_texts(attempt, model, texts(draw, batch_size, num_tokens), num_new)

    def judge_long_with_a_cache(self, attempt, draw, batch_size, num_tokens, num_new):
        """Judge what a `Model` writes behind long texts."""
        num_places = num_tokens + num_new
        values = model_parameters(draw, num_places)
        model = made(attempt, "Model", values, VOCAB_SIZE, num_places, FEATURES, NUM_HEADS)
        self.judge_texts(attempt, model, texts(draw, batch_size, num_tokens), num_new)

    def judge_texts(self, attempt, model, tokens, num_new, **how):
        """Judge the texts that it writes by those that the solution writes; arguments as above."""
        found = self.written(attempt, model, tokens, num_new, **how).value
        right = attempt.reference.call(attempt.name, model.solution, tokens, num_new).value
        attempt.judge(found, right, axes=OF_TEXTS)
