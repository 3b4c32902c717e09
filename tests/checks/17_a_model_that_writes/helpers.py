"""What the checks of assignment 17 share: a model without attention, texts, numbers; grouped layers."""

import itertools
from functools import partial

import torch

from grader.testing import N_, StudentOutcome

from ..helpers import (
    LAYERS,
    attention_of_torch,
    called_unless_waiting,
    is_close,
    is_pair,
    judge_own,
    judge_vectors,
    linear_parameters,
    prefixed,
    zero_biases,
)

VOCAB_SIZE, CONTEXT_LENGTH, FEATURES = 7, 12, 5
TOKEN = N_("the token")


def model_parameters(draw, num_places):
    """Values for a `SumModel`."""
    return {
        "tokens.weight": draw.normal(VOCAB_SIZE, FEATURES),
        "places.weight": draw.normal(num_places, FEATURES),
        **prefixed("head", linear_parameters(draw, FEATURES, VOCAB_SIZE, 0.8)),
    }


def model(attempt, draw, num_places=CONTEXT_LENGTH):
    """The stub's model, with these parameters."""
    sizes = (VOCAB_SIZE, num_places, FEATURES)
    return attempt.of("SumModel").instance(*sizes, given=model_parameters(draw, num_places))


def texts(draw, batch_size, num_tokens):
    """Texts of tokens; in each, none comes again before all others have come."""
    return torch.stack([draw.permutation(VOCAB_SIZE)[:num_tokens] for _ in range(batch_size)])


def numbers(draw, count):
    """Numbers in [0, 1), none near its ends."""
    return draw.uniform(count, low=0.02, high=0.98).tolist()


class Losses:
    """The loss of a model of the stub's."""

    def loss(self, attempt, made, batch, **how):
        """What the student's gives, and what the solution's."""
        found = attempt.student.call(attempt.name, made.own, batch, **how)
        right = attempt.reference.call(attempt.name, made.solution, batch, **how)
        return found, right

    def judge_loss(self, attempt, made, batch):
        """Judge it."""
        found, right = self.loss(attempt, made, batch)
        attempt.judge(found.value, right.value, what=N_("the loss"))


class Writes:
    """What is written with a model of the stub's."""

    def written(self, attempt, made, *args, **how):
        """What the student's writes, and what the solution's."""
        found = attempt.student.call(attempt.name, made.own, *args, **how)
        how = {name: what for name, what in how.items() if name != "meter"}
        return found, attempt.reference.call(attempt.name, made.solution, *args, **how)

    def judge_text(self, attempt, made, *args, **how):
        """Judge it."""
        found, right = self.written(attempt, made, *args, **how)
        attempt.judge(found.value, right.value, what=N_("the text"), axes=(N_("token"),))


def called_with_next_token(attempt, draw, make):
    """What a gate judges; it waits where `next_token` is not right.

    Args:
        attempt: what is judged.
        draw: what draws numbers.
        make: makes the call.
    """
    logits = draw.permutation(5).float()
    settings = itertools.product((0.5, 3.0), (2, 5), (0.2, 0.5, 0.8))
    tried = [(logits, temperature, top_k, number) for temperature, top_k, number in settings]
    expected = [attempt.reference.call("next_token", *args).value for args in tried]

    def is_right():
        own = attempt.beside("next_token")
        return [own(*args).value for args in tried] == expected

    # Whatever this text is: others are drawn with other settings.
    waits = partial(judge_own, attempt, "`next_token`", is_right, "")
    return called_unless_waiting(make, waits, lambda _found: False)


OF_CACHES = (N_("batch"), N_("head"), N_("token"), N_("feature"))
KEPT = (N_("the keys in the cache"), N_("the values in the cache"))
LAYER = "GroupedQueryAttention"


class Grouped:
    """Layers of six heads of four features, with two key-value heads, that read with a cache."""

    d_in, d_out, num_heads, num_kv_heads = 10, 24, 6, 2

    def drawn(self, draw):
        """Values for the parameters of a layer."""
        of_kv = self.num_kv_heads * self.d_out // self.num_heads
        rows = dict(zip(LAYERS, (self.d_out, of_kv, of_kv), strict=True))
        found = {f"{name}.weight": draw.normal(n, self.d_in, std=0.5) for name, n in rows.items()}
        return found | prefixed("out_proj", linear_parameters(draw, self.d_out, self.d_out, 0.5))

    def layer(self, attempt, values, context_length):
        """A layer with these parameters."""
        sizes = (self.d_in, self.d_out, context_length, 0.0, self.num_heads, self.num_kv_heads)
        return attempt.of(LAYER).instance(*sizes, given=values, spare=zero_biases(values))

    def right(self, values, x):
        """The context vectors of whole texts, and their keys and values."""
        return attention_of_torch(values, self.num_heads, x, self.num_kv_heads)

    def read(self, attempt, layer, x, cache=None, **how):
        """What a call gives for new tokens, judged to be context vectors and a cache, and the call."""
        called = attempt.student.call(attempt.name, layer.own, x, cache, self.num_heads, **how)
        both = is_pair(called.value) and is_pair(called.value[1])
        sentence = N_("It should return the context vectors and the cache: keys and values")
        attempt.judge.that(both, sentence, about=called.value)
        return *called.value, called

    def goes_on(self, attempt, values, x, found):
        """Whether what was found for whole texts is right, and their end behind a cache as well."""
        right, kept = self.right(values, x)
        past = tuple(tensor[:, :, :-2] for tensor in kept)
        args = (self.layer(attempt, values, x.shape[1]).own, x[:, -2:], past, self.num_heads)
        try:
            end = attempt.student.call(attempt.name, *args).value
        except StudentOutcome:
            return False
        return is_close(found, right) and is_pair(end) and is_close(end[0], right[:, -2:])

    def judge_pieces(self, attempt, draw, num_texts, *sizes):
        """Judge the context vectors of texts that come in pieces of these sizes, and the last cache."""
        values, x = self.drawn(draw), draw.normal(num_texts, sum(sizes), self.d_in)
        layer, cache, start = self.layer(attempt, values, sum(sizes)), None, 0
        right, kept = self.right(values, x)
        for size in sizes:
            end = start + size
            found, cache, _called = self.read(attempt, layer, x[:, start:end], cache)
            judge_vectors(attempt.judge, found, right, start, end)
            start = end
        self.judge_cache(attempt, cache, kept)

    def judge_cache(self, attempt, cache, kept):
        """Judge keys and values."""
        for what, found, right in zip(KEPT, cache, kept, strict=True):
            attempt.judge(found, right, what=what, axes=OF_CACHES)

    def judge_parts(self, attempt, draw):
        """End the check where a part of the student's own is not right."""
        values, x = self.drawn(draw), draw.normal(2, 5, self.d_in)
        right, (keys, kept_values) = self.right(values, x)
        both = keys, kept_values
        past, new = (tuple(t[:, :, p] for t in both) for p in (slice(3), slice(3, None)))
        mask = torch.ones(2, 5, dtype=torch.bool).tril(3)

        def gives(assignment, name, args, value):
            def is_right():
                found = attempt.beside(name)(*args).value
                if isinstance(value, tuple):
                    return is_pair(found) and all(map(is_close, found, value))
                return is_close(found, value)

            judge_own(attempt, f"`{name}`", is_right, assignment)

        def layer_is_right():
            own = self.layer(attempt.beside(LAYER), values, 5)
            found = own(x, method="keys_and_values").value
            is_kept = is_pair(found) and all(map(is_close, found, both))
            return is_kept and is_close(own(x, training=False).value, right)

        judge_own(attempt, f"`{LAYER}`", layer_is_right, "16", ("WritingModel",))
        heads = keys.repeat_interleave(3, dim=1)
        gives("09", "split_heads", (heads.transpose(1, 2).flatten(2), 6), heads)
        gives("09", "merge_heads", (heads,), heads.transpose(1, 2).flatten(2))
        gives("16", "repeat_kv", (keys, 6), heads)
        gives("15", "append_to_cache", (past, *new), both)
        gives("13", "causal_mask", (2, 5), mask)
