"""What a class's results say together: what to teach again, and which exercises to look at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import StatisticsError, correlation

from grader.core.language import _
from grader.core.records import ExerciseResult, Mistake, Result
from grader.course.course import Course
from grader.feedback.outcomes import ExerciseStatus, exercise_status

TEACH_AGAIN = Fraction(1, 5)
"""From this share of a class on, a mistake is to be taught again."""

FEW = 10
"""Of fewer students than this, nothing is said about how an exercise separates them."""

FEW_ON_A_SIDE = 3
"""Nor where fewer solve it, or fewer do not: one student alone makes a large correlation."""

POORLY, WELL = 0.1, 0.3
"""Usual bounds of an item's point-biserial correlation with the rest of a test."""


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A known mistake, and who made it.

    Args:
        mistake: the mistake.
        exercise: the full id of the exercise.
        students: who certainly made it.
        perhaps: for whom it is one of several that look the same.
        share: of those who handed in something.
    """

    mistake: Mistake
    exercise: str
    students: tuple[str, ...]
    perhaps: tuple[str, ...]
    share: Fraction

    @property
    def percent(self) -> int:
        """The share in whole percent."""
        return int(self.share * 100)

    @property
    def teach_again(self) -> bool:
        """Whether enough made it that it is better explained to all."""
        return len(self.students) > 1 and self.share >= TEACH_AGAIN


class Separation(StrEnum):
    """How well an exercise separates stronger from weaker students."""

    UNTRIED = "untried"
    NOBODY = "nobody"
    EVERYBODY = "everybody"
    FEW = "few"
    BACKWARDS = "backwards"
    POORLY = "poorly"
    SOMEWHAT = "somewhat"
    WELL = "well"

    @property
    def words(self) -> str:
        """In words."""
        return {
            Separation.UNTRIED: _("nobody has tried it yet"),
            Separation.NOBODY: _("nobody solves it: is it too hard, or wrong?"),
            Separation.EVERYBODY: _("everybody solves it"),
            Separation.FEW: _("too few students to tell"),
            Separation.BACKWARDS: _("separates the wrong way round: look at its checks"),
            Separation.POORLY: _("separates poorly: solving it says little about the rest"),
            Separation.SOMEWHAT: _("separates somewhat"),
            Separation.WELL: _("separates well"),
        }[self]


@dataclass(frozen=True, slots=True)
class ExerciseInsight:
    """One exercise over the class.

    Args:
        id: the full id.
        max_score: its points.
        tried: how many attempted it.
        solved: how many have its full score.
        mean: the mean score of those who handed in something and are decided; None without any.
        correlation: of solving it with the score in the rest of the course (point-biserial), where
            it can be worked out.
        separation: the same in a word.
    """

    id: str
    max_score: int
    tried: int
    solved: int
    mean: float | None
    correlation: float | None
    separation: Separation

    @property
    def percent(self) -> int:
        """The mean in whole percent of the points."""
        return int(100 * self.mean / self.max_score) if self.mean is not None else 0

    @property
    def needs_a_look(self) -> bool:
        """Whether the exercise itself may be at fault."""
        return self.separation in (Separation.NOBODY, Separation.BACKWARDS, Separation.POORLY)


def misunderstood(results: Iterable[Result]) -> list[Misunderstood]:
    """The mistakes recognised in a class, the most frequent first."""
    mistakes: dict[str, tuple[Mistake, str]] = {}
    sure: dict[str, list[str]] = {}
    unsure: dict[str, list[str]] = {}
    count = 0
    for result in results:
        count += result.submitted
        for exercise in result.exercises:
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
            share=Fraction(len(set(sure.get(id_, ()))), count),
        )
        for id_, (mistake, exercise_id) in mistakes.items()
    ]
    return sorted(ranked, key=lambda one: (-len(one.students), -len(one.perhaps), one.mistake.id))


def exercise_insights(results: Sequence[Result], course: Course) -> list[ExerciseInsight]:
    """Every exercise of the course over the class, in course order."""
    decided = [result for result in results if result.submitted and result.score is not None]
    totals = [sum((e.score or 0 for e in result.exercises), start=0) for result in decided]
    by_id = [{exercise.id: exercise for exercise in result.exercises} for result in decided]
    return [
        _insight(
            id_,
            exercise.points,
            [(found.get(id_), float(t)) for found, t in zip(by_id, totals, strict=True)],
        )
        for id_, exercise in course.exercises.items()
    ]


def _insight(
    id_: str, max_score: int, rows: list[tuple[ExerciseResult | None, float]]
) -> ExerciseInsight:
    statuses = [ExerciseStatus.MISSING if one is None else exercise_status(one) for one, _ in rows]
    untried = (ExerciseStatus.MISSING, ExerciseStatus.UNTOUCHED)
    tried = sum(one not in untried for one in statuses)
    solved = [one is ExerciseStatus.SOLVED for one in statuses]
    scores = [0.0 if one is None else float(one.score or 0) for one, _ in rows]
    rest = [total - score for (_, total), score in zip(rows, scores, strict=True)]
    number = _correlation(solved, rest)
    return ExerciseInsight(
        id=id_,
        max_score=max_score,
        tried=tried,
        solved=sum(solved),
        mean=sum(scores) / len(scores) if scores else None,
        correlation=number,
        separation=_separation(solved, number) if tried else Separation.UNTRIED,
    )


def _correlation(solved: list[bool], rest: list[float]) -> float | None:
    """How solving goes along with the rest; None where all are alike."""
    try:
        return correlation([float(one) for one in solved], rest)
    except StatisticsError:
        return None


def _separation(solved: list[bool], number: float | None) -> Separation:
    if solved and not any(solved):
        return Separation.NOBODY
    if solved and all(solved):
        return Separation.EVERYBODY
    smaller = min(sum(solved), len(solved) - sum(solved))
    if len(solved) < FEW or smaller < FEW_ON_A_SIDE or number is None:
        return Separation.FEW
    if number < 0:
        return Separation.BACKWARDS
    if number < POORLY:
        return Separation.POORLY
    return Separation.SOMEWHAT if number < WELL else Separation.WELL
