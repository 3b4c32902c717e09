"""What came back in a check: all of it that is the same each time; and gradients beside a result."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.judging.consequences import beside_gradients, by_chance, came_back, steady
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
"""
BY_DRAWING = (
    "Two calls with the same input give different results, because random numbers are drawn: by dropout, "
    "by layers that each call makes anew, or by a choice at random?"
)
BY_KEEPING = (
    "Two calls with the same input give different results: is something kept between them, or is memory "
    "read that was never written, as that of `torch.empty`?"
)


@pytest.mark.parametrize(
    ("target", "how", "hint"),
    [
        ("one", {"drop": True}, BY_DRAWING),
        ("one", {"drop": True, "seed": 1, "training": False}, BY_DRAWING),
        ("one", {"drop": True, "seed": 1}, ""),
        ("one", {}, ""),
        ("kept", {}, BY_KEEPING),
    ],
    ids=["drawn", "in eval mode", "with a seed", "the same", "kept"],
)
def test_a_result_that_is_another_one_each_time_is_called_that(
    hand_in: HandIn, target: str, how: dict[str, Any], hint: str
) -> None:
    """The call is made again; what a seed or training lets it draw is its own."""
    student, x = hand_in(LAYER + KEEPING), torch.ones(8, 2)
    instance = student.call(target, 2).value
    student.load(instance, {"W_query": torch.eye(2)})
    value = student.call(instance, x, **how).value
    found = by_chance(student, Difference("", 3 * torch.ones(8, 2), value, "differs"))
    assert (found.hints if found else ("",)) == (hint,)
    assert len(student.calls) == 2


def test_what_a_function_draws_with_a_model_is_by_chance(hand_in: HandIn) -> None:
    """Its model is made anew, with the same parameters."""
    student, x = hand_in(LAYER + KEEPING), torch.ones(8, 2)
    instance = student.call("one", 2).value
    student.load(instance, {"W_query": torch.eye(2)})
    value = student.call("pick", instance, x).value
    found = by_chance(student, Difference("", torch.zeros(8, 2), value, "differs"))
    assert found is not None
    assert found.hints == (BY_DRAWING,)
    assert by_chance(student, Difference("", torch.zeros(2), value.sum(), "differs")) is None


TRAINING = """
def train(model, x):
    with torch.no_grad():
        model.W_query += 1
    return model(x)
"""


def test_a_model_that_a_call_trains_is_not_what_is_kept(hand_in: HandIn) -> None:
    """Each of the repeated calls gets a model made anew."""
    student, x = hand_in(LAYER + KEEPING + TRAINING), torch.ones(8, 2)
    instance = student.call("one", 2).value
    student.load(instance, {"W_query": torch.eye(2)})
    value = student.call("train", instance, x).value
    assert by_chance(student, Difference("", torch.zeros(8, 2), value, "differs")) is None


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
