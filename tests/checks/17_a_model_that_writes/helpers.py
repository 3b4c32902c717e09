"""What the checks of assignment 17 share: a model without attention, texts, numbers that draw."""

from functools import partial

import torch

from grader.testing import N_

from ..helpers import OF_HERE, called_unless_waiting, judge_own, linear_parameters, prefixed

VOCAB_SIZE, CONTEXT_LENGTH, FEATURES = 7, 12, 5
TOKEN = N_("the token")


def model_parameters(draw):
    """Values for a `SumModel`."""
    return {
        "tokens.weight": draw.normal(VOCAB_SIZE, FEATURES),
        "places.weight": draw.normal(CONTEXT_LENGTH, FEATURES),
        **prefixed("head", linear_parameters(draw, FEATURES, VOCAB_SIZE, 0.8)),
    }


def model(attempt, draw):
    """The stub's model, with these parameters."""
    sizes = (VOCAB_SIZE, CONTEXT_LENGTH, FEATURES)
    return attempt.of("SumModel").instance(*sizes, given=model_parameters(draw))


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


def called_with_next_token(attempt, draw, make, right):
    """What a gate judges; it waits where `next_token` is to blame.

    Args:
        attempt: what is judged.
        draw: what draws numbers.
        make: makes the call.
        right: what should come back.
    """
    tried = [(draw.permutation(5).float(), 1.5, 3, number) for number in (0.2, 0.5, 0.8)]
    expected = [attempt.reference.call("next_token", *args).value for args in tried]

    def is_right():
        own = attempt.beside("next_token")
        return [own(*args).value for args in tried] == expected

    def is_same(found):
        value = found.value
        return isinstance(value, torch.Tensor) and torch.equal(value, right)

    waits = partial(judge_own, attempt, "`next_token`", is_right, OF_HERE)
    return called_unless_waiting(make, waits, is_same)
