"""What code earns that knows nothing: the solution, whose values are spoilt after they are computed.

Everything else stays right: names, types, shapes, parameters, what is left alone. What such code
earns, checks give to code that computes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from grader.checks.fixtures import Fixtures
from grader.checks.run import Check, outcome_of
from grader.core.records import CheckResult, Outcome, Visibility
from grader.course.course import Exercise
from grader.grading.known_mistakes import Checks, LiveMistakes
from grader.grading.scoring import passed_share
from grader.sandbox.wire import RemoteObject
from grader.sessions.in_process import InProcessSession
from grader.testing.replies import Answer, Gradients, State
from grader.testing.student import StudentHandle

MOST_FOR_NOTHING = 0.15
"""The share of an exercise that code may earn whose values are never computed."""

MOST_BY_HEART = 0.4
"""The share that code may earn which is right on what students see, and nowhere else."""

Spoil = Callable[[torch.Tensor, tuple[Any, ...]], torch.Tensor]
"""Other values in the shape of a right result, from it and from the call's arguments."""


def _uniform(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """The same share for every entry of a row."""
    del args
    return torch.full_like(right, 1 / right.shape[-1] if right.ndim and right.shape[-1] else 1)


def _first_argument(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """The first tensor that was given, as far as it goes."""
    given = next((a for a in args if isinstance(a, torch.Tensor) and a.numel()), None)
    if given is None:
        return torch.zeros_like(right)
    wanted = torch.arange(right.numel()) % given.numel()
    return given.detach().flatten()[wanted].to(right.dtype).reshape(right.shape)


def _random(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """Numbers that have nothing to do with the task."""
    del args
    generator = torch.Generator().manual_seed(right.numel())
    return torch.rand(right.shape, generator=generator, dtype=torch.float64).to(right.dtype)


KINDS: Mapping[str, Spoil] = {
    "zeros": lambda right, args: torch.zeros_like(right),
    "ones": lambda right, args: torch.ones_like(right),
    "a uniform share": _uniform,
    "the first argument": _first_argument,
    "random values": _random,
}


@dataclass
class _Spoilt(StudentHandle):
    """A handle that spoils what the exercise returns."""

    spoil: Spoil = _random

    def call(self, target: str | RemoteObject, *args: Any, **kwargs: Any) -> Answer:
        answer = super().call(target, *args, **kwargs)
        name = target if isinstance(target, str) else target.type_name
        if name != self.exercise.name or isinstance(answer.value, RemoteObject):
            return answer
        return replace(
            answer,
            value=_spoilt(answer.value, args, self.spoil),
            gradients=answer.gradients and _no_gradients(answer.gradients),
        )

    def get(self, name: str) -> Any:
        return _spoilt(super().get(name), (), self.spoil)

    def state(self, instance: RemoteObject, *, values: bool = True) -> State:
        """What a method of the exercise may have changed, it has changed to something else."""
        state = super().state(instance, values=values)
        if not any(call.method and call.target == self.exercise.name for call in self.calls):
            return state
        return replace(
            state,
            parameters=_spoilt(state.parameters, (), self.spoil),
            buffers=_spoilt(state.buffers, (), self.spoil),
        )


def _spoilt(value: Any, args: tuple[Any, ...], spoil: Spoil) -> Any:
    """A right result with other numbers in it; what is no number stays."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value
        spoilt = spoil(value if value.is_floating_point() else value.double(), args)
        return spoilt > 0.5 if value.dtype is torch.bool else spoilt.to(value.dtype)
    if isinstance(value, np.ndarray):
        return np.asarray(_spoilt(torch.from_numpy(value), args, spoil))
    if isinstance(value, set | frozenset | bytes | bytearray | str):
        return type(value)()
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple | dict):
        return value
    if isinstance(value, int | float):
        return type(value)(spoil(torch.tensor(float(value)), args))
    if isinstance(value, dict):
        return {key: _spoilt(item, args, spoil) for key, item in value.items()}
    return type(value)(_spoilt(item, args, spoil) for item in value)


def _no_gradients(right: Gradients) -> Gradients:
    parts = (right.parameters, right.arguments)
    return Gradients(
        *(
            {name: None if one is None else torch.zeros_like(one) for name, one in part.items()}
            for part in parts
        )
    )


@dataclass(frozen=True, slots=True)
class Unearned:
    """What code earns of an exercise that knows nothing, as shares from 0 to 1.

    Args:
        for_nothing: by what it returns instead.
        by_heart: what it earns that is right on visible inputs, and returns zeros elsewhere.
        guessable: why its values can be guessed, where the checks say so.
    """

    for_nothing: Mapping[str, float] = field(default_factory=dict)
    by_heart: float = 0.0
    guessable: str = ""

    @property
    def most(self) -> float:
        """What knowing nothing earns at best."""
        return max(self.for_nothing.values(), default=0.0)

    @property
    def problems(self) -> list[str]:
        """Which bound is broken, in sentences; that none is, where the exercise is exempt."""
        bounds = (
            ("knowing nothing", self.most, MOST_FOR_NOTHING),
            ("by heart", self.by_heart, MOST_BY_HEART),
        )
        broken = [(what, earned, most) for what, earned, most in bounds if earned > most]
        if self.guessable:
            stale = "it is marked as guessable, and it keeps to the bounds without that"
            return [] if broken else [stale]
        return [f"{what} earns {earned:.0%}; at most {most:.0%}" for what, earned, most in broken]


def unearned(mistakes: LiveMistakes, exercise: Exercise, checks: Checks) -> Unearned:
    """What the solution of an exercise earns when its values are spoilt.

    Args:
        mistakes: what has the solutions, and runs checks on them.
        exercise: the exercise.
        checks: its checks.
    """

    def share(kind: str, *spoilt: Visibility) -> float:
        return float(passed_share(_run(mistakes, exercise, checks, KINDS[kind], spoilt)))

    return Unearned(
        {kind: share(kind, *Visibility) for kind in KINDS},
        share("zeros", Visibility.HIDDEN),
        next((check.guessable for check in checks if check.guessable), ""),
    )


def _run(
    mistakes: LiveMistakes,
    exercise: Exercise,
    checks: Checks,
    spoil: Spoil,
    spoilt: tuple[Visibility, ...],
) -> list[CheckResult]:
    """How checks of an exercise go; values are spoilt for those of some visibility."""

    def adapt(check: Check, fixtures: Fixtures) -> Fixtures:
        if check.visibility not in spoilt:
            return fixtures
        own = fixtures.student
        parts = own.submission, exercise, own.calls, own.outputs, own.held
        return replace(fixtures, student=_Spoilt(*parts, spoil=spoil))

    session = InProcessSession(mistakes.solutions)
    records = mistakes.run(mistakes.solutions, exercise, checks, session, adapt)
    results = [record.check.result(outcome_of(record.check, record.raised)) for record in records]
    return results + [check.result(Outcome.BLOCKED) for check in checks[len(results) :]]
