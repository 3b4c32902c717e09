"""What code earns that knows nothing: the solution, whose values are corrupted after they are computed.

Everything else stays right: names, types, shapes, parameters, what is left alone. What such code
earns, checks give to code that computes nothing. It is tried in one exercise after the other, whose
neighbours are right, and in all exercises of a file at once, also where they call one another.
"""

import operator
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial, wraps
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.core.records import Outcome, Visibility
from grader.course.course import Assignment, Exercise
from grader.judging.diagnosis import Known
from grader.judging.fixtures import Fixtures
from grader.judging.known_mistakes import Checks, LiveMistakes
from grader.judging.run import Check, outcome_of
from grader.judging.scoring import earned_share
from grader.judging.submission_grader import Scope, SubmissionGrader, outcomes
from grader.sandbox.kinds import Record
from grader.sandbox.tables import is_table
from grader.sandbox.wire import NamedFunction, RemoteObject
from grader.sessions.in_process import InProcessSession
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Answer, Observed, State
from grader.testing.student import Helper, StudentHandle

MOST_FOR_NOTHING = 0.15
"""The share of an exercise that code may earn whose values are never computed."""

MOST_MEMORISED = 0.4
"""The share that code may earn which is right on what students see, and nowhere else."""

Corrupt = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]
"""Other values in the shape of a right result, from it and from the call's first tensor, if any.

It itself where there is nothing to corrupt: a single number has no features.
"""


def _zeros(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    return torch.zeros_like(right)


def _ones(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    return torch.ones_like(right)


def _uniform(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """The same share for every entry of a row."""
    return torch.full_like(right, 1 / right.shape[-1] if right.ndim and right.shape[-1] else 1)


def _first_argument(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """The first tensor's numbers, again and again; zeros where there is none."""
    if first is None:
        return torch.zeros_like(right)
    positions = torch.arange(right.numel()) % first.numel()
    return first.flatten()[positions].to(right.dtype).reshape(right.shape)


def _random(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """Numbers that have nothing to do with the task."""
    generator = torch.Generator().manual_seed(right.numel())
    return torch.rand(right.shape, generator=generator, dtype=torch.float64).to(right.dtype)


def _turned(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """Each feature in the place of the next one."""
    return right.roll(1, -1) if right.ndim and right.shape[-1] > 1 else right


def _running_sum(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """For each row the cosine of the sum of all numbers up to it."""
    if first is None or first.ndim < 2 or first.shape[:-1] != right.shape[:-1]:
        return _first_argument(right, None if first is None else first.flatten().cumsum(0).cos())
    return first.sum(-1, keepdim=True).cumsum(-2).cos().to(right.dtype).expand_as(right).clone()


def _mean(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """The mean of all rows for every row; of a single one, or of a vector, that of its numbers."""
    if not right.ndim:
        return right
    axis = -2 if right.ndim > 1 and right.shape[-2] > 1 else -1
    return right.mean(axis, keepdim=True).expand_as(right).clone()


def _but_the_last(right: torch.Tensor, first: torch.Tensor | None) -> torch.Tensor:
    """NaN for all rows but the last."""
    corrupted = torch.full_like(right, torch.nan)
    if right.ndim > 1 and right.shape[-2] > 1:
        corrupted[..., -1:, :] = right[..., -1:, :]
    return corrupted


KINDS: Mapping[str, Corrupt] = {
    "zeros": _zeros,
    "ones": _ones,
    "a uniform share": _uniform,
    "the first argument": _first_argument,
    "random values": _random,
}
"""What is tried in one exercise, whose neighbours are right."""

EVERYWHERE: Mapping[str, Corrupt] = {
    "zeros": _zeros,
    "a uniform share": _uniform,
    "turned features": _turned,
    "a running sum": _running_sum,
    "the mean of all rows": _mean,
    "NaN but for the last row": _but_the_last,
}
"""What is tried in all exercises of a file at once; some leave a single number as it is."""


ONE_NUMBER = torch.ones((), dtype=torch.float64)
WHOLE = (set, frozenset, bytes, bytearray, str, deque, complex, timedelta)
"""What has no features: a kind that leaves a single number as it is leaves these, too."""


def _corrupted(value: Any, args: Sequence[Any], corrupt: Corrupt) -> Any:
    """A right result with other numbers in it; it itself where there is nothing to corrupt."""
    if isinstance(value, torch.Tensor):
        return _corrupted_tensor(value, args, corrupt)
    if isinstance(value, WHOLE) and corrupt(ONE_NUMBER, None) is ONE_NUMBER:
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUMm":
        return np.zeros_like(value)
    if isinstance(value, np.ndarray):
        return np.asarray(_corrupted(torch.from_numpy(value), args, corrupt))
    if isinstance(value, WHOLE):
        return type(value)()
    if isinstance(value, date):  # or a moment
        return value.replace(year=1)
    if isinstance(value, range):
        return range(0)
    if isinstance(value, Record):
        return replace(value, fields=_corrupted(value.fields, args, corrupt))
    if is_table(value):
        return value[:0]
    numbers = int | float | Decimal | Fraction
    if isinstance(value, bool) or not isinstance(value, numbers | list | tuple | dict):
        return value
    if isinstance(value, numbers):
        right = torch.tensor(float(value), dtype=torch.float64)
        other = _corrupted_tensor(right, args, corrupt)
        return value if other is right else type(value)(other.nan_to_num().item())
    items = list(value.values() if isinstance(value, dict) else value)
    others = [_corrupted(item, args, corrupt) for item in items]
    if all(map(operator.is_, items, others)):
        return value
    is_dict = isinstance(value, dict)
    return dict(zip(value, others, strict=True)) if is_dict else type(value)(others)


def _corrupted_tensor(value: torch.Tensor, args: Sequence[Any], corrupt: Corrupt) -> torch.Tensor:
    if value.is_complex():
        return value
    given = (a for a in args if isinstance(a, torch.Tensor) and a.numel() and not a.is_complex())
    first = next((tensor.detach() for tensor in given), None)
    right = value if value.is_floating_point() else value.double()
    other = corrupt(right, first)
    if other is right:
        return value
    if isinstance(value, nn.Parameter):
        return nn.Parameter(other.detach(), value.requires_grad)
    if value.is_floating_point():
        return other
    other = other.nan_to_num()
    return other > 0.5 if value.dtype is torch.bool else other.to(value.dtype)


@dataclass(frozen=True, slots=True)
class FreePoints:
    """What code earns of an exercise that knows nothing, as shares from 0 to 1.

    Args:
        for_nothing: by what it returns instead.
        everywhere: the same where all exercises of the file do so at once.
        memorised: what it earns that is right on visible inputs, and returns zeros elsewhere.
        guessable: why its values can be guessed, where the checks say so.
    """

    for_nothing: Mapping[str, float]
    memorised: float
    guessable: str
    everywhere: Mapping[str, float] = field(default_factory=dict)

    @property
    def most(self) -> float:
        """What knowing nothing earns at best."""
        return max((*self.for_nothing.values(), *self.everywhere.values()), default=0.0)

    @property
    def best(self) -> str:
        """What to return to earn that; "" where it is nothing."""
        everywhere = {f"{kind}, in all exercises": n for kind, n in self.everywhere.items()}
        shares = {**self.for_nothing, **everywhere}
        return max(shares, key=lambda kind: shares[kind]) if self.most else ""

    @property
    def problems(self) -> list[str]:
        """Which bound is broken, in sentences; that none is, where the exercise is exempt."""
        # What earns no more by heart than for nothing is one thing to mend.
        is_more = self.memorised > self.most
        bounds = (
            (f"knowing nothing ({self.best})", self.most, MOST_FOR_NOTHING),
            *([("by heart", self.memorised, MOST_MEMORISED)] if is_more else ()),
        )
        broken = [(what, earned, most) for what, earned, most in bounds if earned > most]
        if self.guessable:
            stale = "it is marked as guessable, and it keeps to the bounds without that"
            return [] if broken else [stale]
        return [f"{what} earns {earned:.0%}; at most {most:.0%}" for what, earned, most in broken]


@dataclass
class _CorruptedHandle(StudentHandle):
    """A handle that corrupts what the exercise returns."""

    corrupt: Corrupt = _zeros

    def call(self, target: str | RemoteObject | Helper, *args: Any, **kwargs: Any) -> Answer:
        answer = super().call(target, *args, **kwargs)
        if not any(map(self._is_of_it, args if isinstance(target, Helper) else [target])):
            return answer
        answer = replace(answer, printed="", files=dict.fromkeys(answer.files, b""))
        if isinstance(answer.value, RemoteObject):
            return answer
        gradients = answer.gradients
        if gradients:
            parts = (gradients.parameters, gradients.arguments)
            gradients = type(gradients)(
                *({n: g if g is None else torch.zeros_like(g) for n, g in p.items()} for p in parts)
            )
        value = _corrupted(answer.value, args, self.corrupt)
        return replace(answer, value=value, gradients=gradients)

    def first(self, iterator: RemoteObject, count: int) -> Answer:
        return self._read_from(iterator, super().first(iterator, count))

    def attribute(self, instance: RemoteObject, name: str) -> Answer:
        return self._read_from(instance, super().attribute(instance, name))

    def _read_from(self, target: RemoteObject, answer: Answer) -> Answer:
        if not self._is_of_it(target):
            return answer
        return replace(answer, value=_corrupted(answer.value, (), self.corrupt))

    def _is_of_it(self, value: object) -> bool:
        """Whether something is the exercise's function or class, an instance of it, or what it gave back."""
        name = self.exercise.name
        if isinstance(value, RemoteObject):
            made = {call.instance for call in self.calls if call.target == name} - {0}
            return value.type_name == name or value.number in made
        named = value.name if isinstance(value, NamedFunction) else value
        return isinstance(named, str) and named == name

    def get(self, name: str) -> Any:
        return _corrupted(super().get(name), (), self.corrupt)

    def observed(self, program: str) -> list[Observed]:
        """What a given test reports where the exercise gives back other values; else other values of that."""
        session, name = self.submission.session, self.exercise.name
        if not isinstance(session, InProcessSession):
            return self._changed(super().observed(program))
        namespace = session.servant.loader.open(self._source()).namespace
        with _corrupted_name(namespace, name, self.corrupt) as changed:
            reported = super().observed(program)
        is_changed = name in changed and re.search(rf"\b{name}\b", program)
        return reported if is_changed else self._changed(reported)

    def _changed(self, reported: Sequence[Observed]) -> list[Observed]:
        return [
            replace(one, values=tuple(_corrupted(v, (), self.corrupt) for v in one.values))
            for one in reported
        ]

    def state(self, instance: RemoteObject, *, values: bool = True) -> State:
        """What a method of the exercise may have changed, it has changed to something else."""
        state = super().state(instance, values=values)
        if not any(call.method and call.target == self.exercise.name for call in self.calls):
            return state
        return replace(
            state,
            parameters=_corrupted(state.parameters, (), self.corrupt),
            buffers=_corrupted(state.buffers, (), self.corrupt),
        )


def free_points(mistakes: LiveMistakes, exercise: Exercise, checks: Checks) -> FreePoints:
    """What the solution of an exercise earns when its values are corrupted, and no other's."""

    def share(kind: str, *corrupted: Visibility) -> float:
        def adapt(check: Check, fixtures: Fixtures) -> Fixtures:
            if check.visibility not in corrupted:
                return fixtures
            student = fixtures.student
            parts = student.submission, exercise, student.calls, student.outputs, student.held
            handle = _CorruptedHandle(*parts, corrupt=KINDS[kind])
            handle.given_tests = student.given_tests
            return replace(fixtures, student=handle)

        session = InProcessSession(mistakes.solutions)
        records = mistakes.run(mistakes.solutions, exercise, checks, session, adapt)
        results = [r.check.result(outcome_of(r.check, r.raised)) for r in records]
        results += [check.result(Outcome.BLOCKED) for check in checks[len(results) :]]
        return float(earned_share(results))

    return FreePoints(
        {kind: share(kind, *Visibility) for kind in KINDS},
        memorised=share("zeros", Visibility.HIDDEN),
        guessable=next((check.guessable for check in checks if check.guessable), ""),
    )


@dataclass(frozen=True, slots=True)
class OneAtATime:
    """Known mistakes without those two at a time, which take far longer."""

    mistakes: LiveMistakes

    def known(self, exercise: Exercise, checks: Checks, size: int) -> list[Known]:
        """As `LiveMistakes` has them, and no pairs."""
        return self.mistakes.known(exercise, checks, size) if size == 1 else []

    def stand_in(
        self, exercise: Exercise, mistakes: Sequence[str], submission: SubmissionHandle
    ) -> AbstractContextManager[SubmissionHandle | None]:
        """As `LiveMistakes` makes it."""
        return self.mistakes.stand_in(exercise, mistakes, submission)


def earned_everywhere(
    grader: SubmissionGrader,
    mistakes: LiveMistakes,
    assignment: Assignment,
    exercises: Mapping[str, Exercise],
) -> dict[str, dict[str, float]]:
    """What exercises earn when the values of all exercises of the file are corrupted, by kind.

    So are those of the assignments that this one is compared with. A kind is left out where an
    exercise has nothing to corrupt in that way.

    Args:
        assignment: whose file is corrupted.
        exercises: those of the assignment that are wanted, by id.
    """
    earned: dict[str, dict[str, float]] = {id_: {} for id_ in exercises}
    course, solutions = grader.environment.course, mistakes.solutions
    without_pairs = replace(grader, mistakes=OneAtATime(mistakes))
    for kind, corrupt in EVERYWHERE.items():
        session, changed = InProcessSession(solutions), set[str]()
        for id_ in (*assignment.compares, assignment.id):
            opened = session.servant.loader.open(solutions.readings[id_].sources[0])
            names = [exercise.name for exercise in course.by_id[id_].exercises]
            changed = _corrupt_names(opened.namespace, names, corrupt)
        result = outcomes(without_pairs, solutions, session, Scope(dict(exercises)))
        for exercise in result.exercises:
            if exercises[exercise.id].name in changed:
                earned[exercise.id][kind] = float(earned_share(exercise.checks, exercise.findings))
    return earned


@contextmanager
def _corrupted_name(namespace: dict[str, Any], name: str, corrupt: Corrupt) -> Iterator[set[str]]:
    """The same as `_corrupt_names` for one name, until the end of a block."""
    value = namespace[name]
    methods = dict(vars(value)) if isinstance(value, type) else {}
    try:
        yield _corrupt_names(namespace, [name], corrupt)
    finally:
        namespace[name] = value
        for key, method in methods.items():
            if vars(value).get(key) is not method:
                setattr(value, key, method)


def _corrupt_names(namespace: dict[str, Any], names: list[str], corrupt: Corrupt) -> set[str]:
    """Corrupt what functions and methods of a loaded file return, and its constants.

    Returns:
        The names of those that have had something to corrupt, so far.
    """
    changed: set[str] = set()
    for name in names:
        value, note = namespace[name], partial(changed.add, name)
        if isinstance(value, type):
            for key, method in list(vars(value).items()):
                if isinstance(method, FunctionType) and not key.startswith("_"):
                    setattr(value, key, _corrupting(method, corrupt, note))
        elif isinstance(value, FunctionType):
            namespace[name] = _corrupting(value, corrupt, note)
        else:
            namespace[name] = _corrupted(value, (), corrupt)
            changed |= {name} if namespace[name] is not value else set()
    return changed


def _corrupting(
    function: FunctionType, corrupt: Corrupt, note: Callable[[], None]
) -> Callable[..., Any]:
    """The function, whose result is corrupted; one that works by its effect alone does nothing."""

    @wraps(function)
    def corrupting(*args: Any, **kwargs: Any) -> Any:
        if function.__annotations__.get("return", ...) is None:
            return note()
        right = function(*args, **kwargs)
        other = _corrupted(right, (*args, *kwargs.values()), corrupt)
        if other is not right:
            note()
        return other

    return corrupting
