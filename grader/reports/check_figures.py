"""How each check ended in a class, as the tables of items are made from it. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import StatisticsError, correlation, fmean

from msgspec.structs import replace

from grader.core.records import AssignmentResult, CheckResult, ExerciseResult, Outcome, Result

Taken = list[tuple[str, AssignmentResult, float]]
"""Students with their results in one assignment and the points of it."""


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """How a check ended for those who have it, the weakest in the assignment first.

    Args:
        check: as the first of them has it.
        exercise: the name of its exercise.
        passed: 1 or 0 for each student, by name.
        rest: their share of the points in the rest of the assignment, by name.
    """

    check: CheckResult
    exercise: str
    passed: dict[str, float] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the check is called in its file."""
        return self.check.id.rpartition("::")[2]

    @property
    def share(self) -> float | None:
        """Of those who have it, how many pass."""
        return fmean(self.passed.values()) if self.passed else None

    @property
    def separation(self) -> float | None:
        """How passing goes with the rest of the assignment."""
        return correlated([*self.passed.values()], [*self.rest.values()])

    def among(self, students: Collection[str]) -> "CheckFigures":
        """The same for some of the students."""
        kept = [{s: one[s] for s in one if s in students} for one in (self.passed, self.rest)]
        return CheckFigures(self.check, self.exercise, *kept)


def decided(results: Iterable[Result]) -> list[Result]:
    """Those who handed something in and have a score."""
    return [r for r in results if r.submitted and not r.undecided and r.score is not None]


def taken(results: Iterable[Result], assignment: str) -> Taken:
    """Who handed in an assignment, from the fewest points to the most.

    Of each only the exercises that count for the student.
    """
    parts = [
        (r.student, replace(p, exercises=p.counting), points_in(p.counting))
        for r in results
        for p in r.assignments
        if p.id == assignment and p.read_from and p.counts
    ]
    return sorted(parts, key=lambda one: one[2])


def points_in(exercises: Iterable[ExerciseResult]) -> float:
    """The points of some exercises."""
    return sum(float(exercise.score or 0) for exercise in exercises)


def rest_share(part: AssignmentResult, exercise: str) -> float:
    """The share of the points in an assignment's other exercises; 0 where these are worth none.

    Args:
        part: the assignment, with exercises that count.
        exercise: the id of the one that is left out.
    """
    others = [one for one in part.exercises if one.id != exercise]
    most = sum(one.max_score for one in others)
    return points_in(others) / most if most else 0.0


def checks_of(parts: Taken, exercise: str) -> Iterator[CheckFigures]:
    """The figures of an exercise's checks, in their order.

    Args:
        parts: who handed in the assignment.
        exercise: the id of the exercise.
    """
    found: dict[str, CheckFigures] = {}
    for student, part, _total in parts:
        for one in (e for e in part.exercises if e.id == exercise):
            for check in one.checks:
                figures = found.setdefault(check.id, CheckFigures(check, one.name))
                figures.passed[student] = float(check.outcome is Outcome.PASSED)
                figures.rest[student] = rest_share(part, exercise)
    return iter(found.values())


def correlated(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The correlation; None for too few, or where all are alike."""
    with suppress(StatisticsError):
        return correlation(one, other)
    return None


def number(value: float | None) -> str:
    """A figure in a table; blank where there is none."""
    return "" if value is None else f"{value:.3f}"
