"""What a class's results say together: what to teach again, and which exercises to look at."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import atanh, sqrt, tanh
from statistics import StatisticsError, correlation, median

from msgspec.structs import replace

from grader.core.language import N_, _
from grader.core.records import (
    AssignmentResult,
    AttemptScore,
    CheckResult,
    ExerciseResult,
    Mistake,
    Outcome,
    Result,
)
from grader.course.course import Course
from grader.judging.outcomes import ExerciseStatus, exercise_status

TEACH_AGAIN = Fraction(1, 5)
"""From this share of a class on, a mistake is to be taught again."""

SEVERAL = 3
"""So many with the same values or exception are worth a line, though no known mistake explains it."""

FEW = 10
"""Of fewer students than this, nothing is said about how an exercise separates them."""

FEW_ON_A_SIDE = 3
"""Nor where fewer solve it, or fewer do not: one student alone makes a large correlation."""

WELL = 0.3
"""From here on an item's point-biserial correlation with the rest of a test is usually called good."""

SURE = 1.96
"""Standard errors on each side of a correlation's interval: it holds in 95 of 100 classes."""


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A known mistake, and who made it.

    Args:
        exercise: the full id of the exercise.
        students: who certainly made it.
        perhaps: for whom it is one of several that look the same.
        of: how many handed in the exercise's assignment, and it counts for them.
    """

    mistake: Mistake
    exercise: str
    students: tuple[str, ...]
    perhaps: tuple[str, ...]
    of: int

    @property
    def share(self) -> Fraction:
        """Of those who handed in the assignment."""
        return Fraction(len(self.students), self.of)

    @property
    def percent(self) -> int:
        """The share in whole percent."""
        return int(self.share * 100)

    @property
    def teach_again(self) -> bool:
        """Whether enough made it that it is better explained to all."""
        return len(self.students) > 1 and self.share >= TEACH_AGAIN


class Separation(Enum):
    """How well an exercise separates stronger from weaker students; the value is for people."""

    UNTRIED = N_("nobody has tried it yet")
    NOBODY = N_("nobody solves it: is it too hard, or wrong?")
    EVERYBODY = N_("everybody solves it")
    FEW = N_("too few students to tell")
    BACKWARDS = N_("separates the wrong way round: look at its checks")
    POORLY = N_("separates poorly: solving it says little about its assignment")
    SOMEWHAT = N_("separates somewhat")
    WELL = N_("separates well")

    @property
    def words(self) -> str:
        """In the language of the run."""
        return _(self.value)


@dataclass(frozen=True, slots=True)
class ExerciseInsight:
    """One exercise over the class.

    Args:
        tried: how many attempted it.
        solved: how many have its full score.
        mean: the mean score of those who handed in something and are decided; None without any.
        correlation: of solving it with the score in the rest of its assignment (point-biserial),
            among those who tried it, where it can be worked out.
        interval: where that correlation lies in 95 of 100 classes like this one.
        separation: the same in a word.
    """

    id: str
    max_score: float
    tried: int
    solved: int
    mean: float | None
    correlation: float | None
    interval: tuple[float, float] | None
    separation: Separation

    @property
    def percent(self) -> int:
        """The mean in whole percent of the points."""
        return int(100 * self.mean / self.max_score) if self.mean and self.max_score else 0

    @property
    def needs_a_look(self) -> bool:
        """Whether the exercise itself may be at fault."""
        return self.separation in (Separation.NOBODY, Separation.BACKWARDS)


def misunderstood(results: Iterable[Result]) -> list[Misunderstood]:
    """The mistakes recognised in a class, the most frequent first."""
    mistakes: dict[str, tuple[Mistake, str]] = {}
    sure: dict[str, list[str]] = {}
    unsure: dict[str, list[str]] = {}
    having = Counter[str]()
    for result in results:
        counting = [exercise for part in result.assignments for exercise in part.counting]
        having.update(exercise.id for exercise in counting)
        for exercise in counting:
            for finding in exercise.findings:
                found = sure if len(finding.candidates) == 1 else unsure
                for mistake in finding.candidates:
                    mistakes.setdefault(mistake.id, (mistake, exercise.id))
                    found.setdefault(mistake.id, []).append(result.student)
    ranked = [
        Misunderstood(
            mistake=mistake,
            exercise=exercise_id,
            students=tuple(dict.fromkeys(sure.get(id_, ()))),
            perhaps=tuple(dict.fromkeys(unsure.get(id_, ()))),
            of=having[exercise_id],
        )
        for id_, (mistake, exercise_id) in mistakes.items()
    ]
    return sorted(ranked, key=lambda one: (-len(one.students), -len(one.perhaps), one.mistake.id))


@dataclass(frozen=True, slots=True)
class Alike:
    """What came out the same for several students, and no known mistake explains.

    Args:
        what: the exception, or what should have held.
        exercises: the full ids, in the order in which they were met.
        example: what one of the students reads.
        of: how many handed in any of these.
    """

    what: str
    exercises: tuple[str, ...]
    students: tuple[str, ...]
    example: str
    of: int


def alike(results: Iterable[Result]) -> list[Alike]:
    """What several have in common beyond the known mistakes, the most frequent first."""
    found: dict[object, list[tuple[str, str, CheckResult]]] = {}
    having: dict[str, set[str]] = {}
    for result in results:
        for exercise in (one for part in result.assignments for one in part.counting):
            having.setdefault(exercise.id, set()).add(result.student)
            failed = (check for check in exercise.checks if check.outcome is Outcome.FAILED)
            first = next(failed, None)
            if first is None or exercise.findings or not (first.raised or first.picture):
                continue
            values = first.picture.received if first.picture else ()
            key = first.raised or (first.id, values)
            found.setdefault(key, []).append((result.student, exercise.id, first))
    groups = [
        Alike(
            what=entries[0][2].raised or entries[0][2].title,
            exercises=tuple(dict.fromkeys(id_ for _, id_, _ in entries)),
            students=tuple(dict.fromkeys(student for student, _, _ in entries)),
            example=entries[0][2].message,
            of=len(set().union(*(having[id_] for _, id_, _ in entries))),
        )
        for entries in found.values()
    ]
    several = (group for group in groups if len(group.students) >= SEVERAL)
    return sorted(several, key=lambda group: (-len(group.students), group.exercises))


def exercise_insights(results: Sequence[Result], course: Course) -> list[ExerciseInsight]:
    """Every exercise of the course over the class, in course order."""
    decided = [result for result in results if result.submitted and result.score is not None]
    rows: dict[str, list[tuple[ExerciseResult, float]]] = {id_: [] for id_ in course.exercises}
    for assignment in (part for result in decided for part in result.assignments):
        part = replace(assignment, exercises=assignment.counting)
        for exercise in part.exercises:
            if exercise.id in rows:
                rows[exercise.id].append((exercise, rest_share(part, exercise.id)))
    return [_insight(id_, one.points, rows[id_]) for id_, one in course.exercises.items()]


def _insight(
    id_: str, max_score: float, rows: list[tuple[ExerciseResult, float]]
) -> ExerciseInsight:
    untried = (ExerciseStatus.MISSING, ExerciseStatus.UNTOUCHED)
    tried = [(one, rest) for one, rest in rows if exercise_status(one) not in untried]
    solved = [exercise_status(one) is ExerciseStatus.SOLVED for one, _ in tried]
    number = correlated(list(map(float, solved)), [rest for _, rest in tried])
    interval = None if number is None else _interval(number, len(tried))
    return ExerciseInsight(
        id=id_,
        max_score=max_score,
        tried=len(tried),
        solved=sum(solved),
        mean=sum(float(one.score or 0) for one, _ in rows) / len(rows) if rows else None,
        correlation=number,
        interval=interval,
        separation=_separation(solved, number, interval) if tried else Separation.UNTRIED,
    )


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


def correlated(one: Sequence[float], other: Sequence[float]) -> float | None:
    """The correlation; None for too few, or where all are alike."""
    with suppress(StatisticsError):
        return correlation(one, other)
    return None


def _interval(number: float, count: int) -> tuple[float, float] | None:
    """Where a correlation lies with 95 % certainty (Fisher's transformation)."""
    if count <= 3:
        return None
    middle, half = atanh(max(-0.9999, min(0.9999, number))), SURE / sqrt(count - 3)
    return tanh(middle - half), tanh(middle + half)


def _separation(
    solved: list[bool], number: float | None, interval: tuple[float, float] | None
) -> Separation:
    """In a word; nothing is said against an exercise where chance may explain the number."""
    if solved and not any(solved):
        return Separation.NOBODY
    if solved and all(solved):
        return Separation.EVERYBODY
    smaller = min(sum(solved), len(solved) - sum(solved))
    if len(solved) < FEW or smaller < FEW_ON_A_SIDE or number is None or interval is None:
        return Separation.FEW
    low, high = interval
    if high < 0:
        return Separation.BACKWARDS
    if low > 0:
        return Separation.SOMEWHAT if number < WELL else Separation.WELL
    return Separation.POORLY if high < WELL else Separation.FEW


STUCK = 2
"""So many last attempts without more points than before make somebody stuck."""
MOST_TRIES = 4
"""From so many on, tries are counted together."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How many tries students took until they solved an exercise.

    Args:
        exercise: its id.
        counts: how many students took one, two, three, four and more.
        median: the tries that half of those who solved it needed at most.
        unsolved: how many tried it and have not solved it.
    """

    exercise: str
    counts: tuple[int, ...]
    median: float | None
    unsolved: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """Somebody whose last attempts brought no more points.

    Args:
        assignment: its id.
        count: how many attempts in a row.
        exercises: what they tried in the last one and have not solved, by name.
    """

    student: str
    assignment: str
    count: int
    exercises: tuple[str, ...]


def tries_until_solved(results: Sequence[Result], course: Course) -> list[Tries]:
    """The exercises that anybody has attempts at, in course order."""
    parts = [p for result in results for p in result.assignments if p.attempts and p.counts]
    found = []
    for id_, exercise in course.exercises.items():
        mine = [part.attempts for part in parts if part.id == exercise.assignment]
        tried = [[one for one in attempts if id_ in one.tried] for attempts in mine]
        tried = [attempts for attempts in tried if attempts]
        if tried:
            are_solved = [[_is_solved(one, id_, exercise.points) for one in a] for a in tried]
            solved = [is_solved.index(True) + 1 for is_solved in are_solved if any(is_solved)]
            capped = [min(count, MOST_TRIES) for count in solved]
            counts = tuple(capped.count(number) for number in range(1, MOST_TRIES + 1))
            middle = median(solved) if solved else None
            found.append(Tries(id_, counts, middle, len(tried) - len(solved)))
    return found


def _is_solved(one: AttemptScore, id_: str, points: float) -> bool:
    score = one.exercises.get(id_)
    return bool(points) and score is not None and score >= Decimal(str(points))


def stuck(results: Sequence[Result], course: Course) -> list[Stuck]:
    """Who is stuck now, in which assignments."""
    found = []
    for result in results:
        for part in (one for one in result.assignments if one.counts):
            earned = [sum(s or Decimal(0) for s in a.exercises.values()) for a in part.attempts]
            count = 0
            while count + 1 < len(earned) and max(earned[-count - 1 :]) <= max(
                earned[: -count - 1]
            ):
                count += 1
            if count >= STUCK and (names := _unsolved(part.attempts[-1], course)):
                found.append(Stuck(result.student, part.id, count, names))
    return found


def _unsolved(last: AttemptScore, course: Course) -> tuple[str, ...]:
    """The exercises, by name, that were tried in an attempt and not solved."""
    tried = (e for id_ in last.tried if (e := course.exercises.get(id_)) is not None and e.points)
    return tuple(e.name for e in tried if not _is_solved(last, e.id, e.points))
