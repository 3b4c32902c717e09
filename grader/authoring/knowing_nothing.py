"""What code earns that knows nothing: the solution, whose values are spoilt after they are computed.

Everything else stays right: names, types, shapes, parameters, what is left alone. What such code
earns, checks give to code that computes nothing. It is tried in one exercise after the other, whose
neighbours are right, and in all exercises of a file at once, also where they call one another.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from grader.authoring.spoilt_values import EVERYWHERE, KINDS, Spoil, spoil_names, spoilt
from grader.core.records import CheckResult, Outcome, Visibility
from grader.course.course import Assignment, Exercise
from grader.judging.diagnosis import Known
from grader.judging.fixtures import Fixtures
from grader.judging.known_mistakes import Checks, LiveMistakes
from grader.judging.run import Check, outcome_of
from grader.judging.scoring import earned_share, passed_share
from grader.judging.submission_grader import Scope, SubmissionGrader, outcomes
from grader.sandbox.wire import RemoteObject
from grader.sessions.in_process import InProcessSession
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Answer, Gradients, State
from grader.testing.student import StudentHandle

MOST_FOR_NOTHING = 0.15
"""The share of an exercise that code may earn whose values are never computed."""

MOST_BY_HEART = 0.4
"""The share that code may earn which is right on what students see, and nowhere else."""


@dataclass
class _Spoilt(StudentHandle):
    """A handle that spoils what the exercise returns."""

    spoil: Spoil = KINDS["zeros"]

    def call(self, target: str | RemoteObject, *args: Any, **kwargs: Any) -> Answer:
        answer = super().call(target, *args, **kwargs)
        name = target if isinstance(target, str) else target.type_name
        if name != self.exercise.name or isinstance(answer.value, RemoteObject):
            return answer
        return replace(
            answer,
            value=spoilt(answer.value, args, self.spoil),
            gradients=answer.gradients and _no_gradients(answer.gradients),
        )

    def get(self, name: str) -> Any:
        return spoilt(super().get(name), (), self.spoil)

    def state(self, instance: RemoteObject, *, values: bool = True) -> State:
        """What a method of the exercise may have changed, it has changed to something else."""
        state = super().state(instance, values=values)
        if not any(call.method and call.target == self.exercise.name for call in self.calls):
            return state
        return replace(
            state,
            parameters=spoilt(state.parameters, (), self.spoil),
            buffers=spoilt(state.buffers, (), self.spoil),
        )


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
        everywhere: the same where all exercises of the file do so at once.
        by_heart: what it earns that is right on visible inputs, and returns zeros elsewhere.
        guessable: why its values can be guessed, where the checks say so.
    """

    for_nothing: Mapping[str, float] = field(default_factory=dict)
    everywhere: Mapping[str, float] = field(default_factory=dict)
    by_heart: float = 0.0
    guessable: str = ""

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
        bounds = (
            (f"knowing nothing ({self.best})", self.most, MOST_FOR_NOTHING),
            ("by heart", self.by_heart, MOST_BY_HEART),
        )
        broken = [(what, earned, most) for what, earned, most in bounds if earned > most]
        if self.guessable:
            stale = "it is marked as guessable, and it keeps to the bounds without that"
            return [] if broken else [stale]
        return [f"{what} earns {earned:.0%}; at most {most:.0%}" for what, earned, most in broken]


def unearned(mistakes: LiveMistakes, exercise: Exercise, checks: Checks) -> Unearned:
    """What the solution of an exercise earns when its values are spoilt, and no other's.

    Args:
        mistakes: what has the solutions, and runs checks on them.
        exercise: the exercise.
        checks: its checks.
    """

    def share(kind: str, *spoilt: Visibility) -> float:
        return float(passed_share(_run(mistakes, exercise, checks, KINDS[kind], spoilt)))

    return Unearned(
        {kind: share(kind, *Visibility) for kind in KINDS},
        by_heart=share("zeros", Visibility.HIDDEN),
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
    """What exercises earn when the values of all exercises of the file are spoilt, by kind.

    So are those of the assignments that this one is compared with. A kind is left out where an
    exercise has nothing to spoil in that way.

    Args:
        grader: has the checks, and what they run with.
        mistakes: what has the solutions.
        assignment: whose file is spoilt.
        exercises: those of the assignment that are wanted, by id.
    """
    found: dict[str, dict[str, float]] = {id_: {} for id_ in exercises}
    course, solutions = grader.environment.course, mistakes.solutions
    used = replace(grader, mistakes=OneAtATime(mistakes))
    for kind, spoil in EVERYWHERE.items():
        session, changed = InProcessSession(solutions), set[str]()
        for id_ in (*assignment.compares, assignment.id):
            opened = session.servant.loader.open(solutions.readings[id_].sources[0])
            names = [exercise.name for exercise in course.by_id[id_].exercises]
            changed = spoil_names(opened.namespace, names, spoil)
        for exercise in outcomes(used, solutions, session, Scope(dict(exercises))).exercises:
            if exercises[exercise.id].name in changed:
                share = earned_share(exercise.checks, exercise.findings)
                found[exercise.id][kind] = float(share)
    return found


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
