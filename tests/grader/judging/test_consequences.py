"""What came back in a check, what is by chance, and what only follows from something else."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.judging.consequences import (
    beside_gradients,
    by_chance,
    came_back,
    may_follow,
    steady,
    without_values,
)
from grader.judging.diagnosis import BY_CHANCE
from grader.testing.compare import Difference
from grader.testing.replies import Answer, Gradients
from grader.testing.student import StudentHandle

HandIn = Callable[..., StudentHandle]

LAYER = """\
import torch
from torch import nn


class one(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(size, size))

    def forward(self, x, drop=False):
        return nn.functional.dropout(x @ self.W_query, 0.5) if drop else x @ self.W_query


def draw(size):
    return torch.rand(size)
"""


def test_values_and_gradients_came_back(hand_in: HandIn) -> None:
    """Of every call, in order."""
    student = hand_in(LAYER)
    instance = student.call("one", 2, seed=1).value
    student.load(instance, {"W_query": torch.eye(2)})
    x = torch.tensor([[1.0, 2.0]])
    student.call(instance, x, cotangent=torch.ones(1, 2))
    _, (value, changed, arguments, parameters) = came_back(student)
    assert torch.equal(value, x)
    assert changed == ()
    assert torch.equal(arguments["0"], torch.ones(1, 2))
    assert parameters["W_query"].tolist() == [[1.0, 1.0], [2.0, 2.0]]


KEEPING = """

class kept(one):
    def forward(self, x):
        self.times = getattr(self, "times", 0) + 1
        return self.times * x


def pick(model, x):
    return model(x, drop=True)


def train(model, x):
    with torch.no_grad():
        model.W_query += 1
    return model(x)
"""
BY_DRAWING, BY_KEEPING = (
    "random numbers are drawn: by dropout",
    "is something kept between them, or",
)


@pytest.mark.parametrize(
    ("target", "function", "how", "hint"),
    [
        ("one", None, {"drop": True}, BY_DRAWING),
        ("one", None, {"drop": True, "seed": 1, "training": False}, BY_DRAWING),
        ("one", None, {"drop": True, "seed": 1}, ""),
        ("one", None, {}, ""),
        ("kept", None, {}, BY_KEEPING),
        ("one", "pick", {}, BY_DRAWING),
        ("one", "train", {}, ""),
    ],
    ids=["drawn", "in eval mode", "with a seed", "the same", "kept", "with a model", "trained"],
)
def test_a_result_that_is_another_one_each_time_is_called_that(
    hand_in: HandIn, target: str, function: str | None, how: dict[str, Any], hint: str
) -> None:
    """The call is made again, its model anew; what a seed or training lets it draw is its own."""
    student, x = hand_in(LAYER + KEEPING), torch.ones(8, 2)
    instance = student.call(target, 2).value
    student.load(instance, {"W_query": torch.eye(2)})
    called = (function, instance, x) if function else (instance, x)
    value = student.call(*called, **how).value
    found = by_chance(student, Difference("", 3 * torch.ones(8, 2), value, "differs"))
    assert (found is None) == (hint == "")
    assert found is None or hint in found.hints[0]
    assert by_chance(student, Difference("", torch.zeros(2), value.sum(), "differs")) is None
    assert len(student.calls) == 2


@pytest.mark.parametrize("seed", [None, 1])
def test_what_is_judged_and_drawn_without_a_seed_is_by_chance(
    hand_in: HandIn, seed: int | None
) -> None:
    """With a seed it is the same in every run."""
    student = hand_in(LAYER)
    student.submission.notes_chance = True
    value = student.call("draw", 3, seed=seed).value
    judged = steady(student, [value, 5])
    assert (judged[0] is value, judged[1]) == (seed is not None, 5)
    assert seed is not None or judged[0] == BY_CHANCE


@pytest.mark.parametrize("seed", [None, 1])
def test_what_is_drawn_without_a_seed_is_by_chance(hand_in: HandIn, seed: int | None) -> None:
    """By a function, or by an instance that keeps it; dropout draws anew whatever the seed is."""
    student, x = hand_in(LAYER), torch.ones(1, 2)
    student.submission.notes_chance = True
    student.call("draw", 3, seed=seed)
    instance = student.call("one", 2, seed=seed).value
    student.call(instance, x)
    student.call(instance, x, drop=True, seed=1)
    drawn, _, run, dropped = (one == BY_CHANCE for one in came_back(student))
    assert (drawn, run, dropped) == (seed is None, seed is None, True)


@pytest.mark.parametrize(
    ("value", "is_told"), [(torch.ones(2), True), (torch.ones(2) + 1, False), (None, False)]
)
def test_gradients_that_alone_are_wrong_are_told(value: Any, is_told: bool) -> None:
    """Where the result that they are of is the solution's."""
    gradient = torch.zeros(2)
    mine = Answer(value, gradients=Gradients({}, {"0": gradient}))
    fixtures: Any = SimpleNamespace(
        student=SimpleNamespace(answers={0: mine}),
        reference=SimpleNamespace(answers={0: Answer(torch.ones(2))}),
    )
    told = ("The result itself is right, only its gradients are not.",)
    difference = Difference("", torch.ones(2), gradient, "they differ")
    assert beside_gradients(difference, fixtures) == (told if is_told else ())
    assert beside_gradients(Difference("", torch.ones(2), torch.zeros(2), ""), fixtures) == ()


# Parameters that took no values.

NOT_TAKEN = (
    "No parameter of it takes the check's values for 'W_key', 'W_query'. The numbers cannot be compared, "
    "so this check says nothing about what it computes."
)
NAMES = frozenset({"W_query", "W_key"})


@pytest.mark.parametrize(
    ("expected", "actual", "not_taken", "said"),
    [
        (torch.zeros(2, 3), torch.ones(2, 3), NAMES, NOT_TAKEN),
        (None, None, NAMES, NOT_TAKEN),
        (torch.zeros(2, 3), torch.ones(2, 3), frozenset(), "differs"),
        (torch.zeros(2, 3), torch.ones(3, 2), NAMES, "differs"),
        ({"W_query": 1}, {"W_q": 1}, NAMES, "differs"),
    ],
    ids=["values", "a property", "all taken", "a shape", "the names themselves"],
)
def test_of_numbers_without_the_checks_parameters_nothing_is_said(
    expected: Any, actual: Any, not_taken: frozenset[str], said: str
) -> None:
    """Two draws are compared then: rows, dropout and gradients may all be right."""
    difference = Difference("", expected, actual, "differs", ("a hint",))
    found = without_values(difference, not_taken)
    assert (found.summary, found.hints) == (said, () if said == NOT_TAKEN else ("a hint",))


def test_what_lacks_names_that_an_earlier_check_asks_for_may_only_follow() -> None:
    """Also where the earlier one lists what is there, and not what is missing."""
    names = Difference("", {"W_query": (3, 2)}, {"Wq": (3, 2)}, "'W_query' is missing")
    values = Difference("", torch.zeros(2), torch.ones(2), "differs")
    for not_taken in (NAMES, frozenset({"W_value"})):
        follows = may_follow(values, names, is_general=False, not_taken=not_taken)
        assert follows == ("W_query" in not_taken)
