"""From outcomes to points: exact arithmetic, rounded once per exercise. No student code is run."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from grader.core.language import _, ngettext
from grader.core.records import AssignmentResult, CheckResult, Outcome, Result, added
from grader.course.course import Course, LateRule

HUNDREDTH = Decimal("0.01")


def scored(course: Course, outcomes: Result) -> Result:
    """A result with scores, from one that has outcomes only.

    Args:
        course: whose points, due dates and rule for late work count.
        outcomes: how the checks of a submission ended.
    """
    assignments = tuple(_scored(course, assignment) for assignment in outcomes.assignments)
    if not assignments:
        return outcomes
    return replace(
        outcomes,
        score=total(a.score for a in assignments),
        max_score=added(a.max_score for a in assignments),
        undecided=any(a.score is None for a in assignments),
        assignments=assignments,
    )


def _scored(course: Course, outcomes: AssignmentResult) -> AssignmentResult:
    assignment = course.by_id[outcomes.id]
    if not outcomes.exercises:  # the grader failed before any check
        return replace(outcomes, score=None, max_score=assignment.max_score)
    exercises = tuple(
        replace(one, score=exercise_score(most, one.checks), max_score=most)
        for one in outcomes.exercises
        for most in (course.exercises[one.id].points,)
    )
    late = lateness(course, outcomes.id, total(e.score for e in exercises), outcomes.submitted_at)
    return replace(
        outcomes,
        score=late.score,
        max_score=added(exercise.max_score for exercise in exercises),
        exercises=exercises,
        notes=(*outcomes.notes, *late.notes),
        days_late=late.days,
    )


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late an assignment was handed in, and what that leaves of its score.

    Args:
        score: in points; None where the assignment is undecided.
        days: days begun after the due date.
        notes: a sentence for the student, where points were given and it was late.
    """

    score: Decimal | None
    days: int = 0
    notes: tuple[str, ...] = ()


def lateness(
    course: Course, assignment: str, score: Decimal | None, submitted_at: datetime | None
) -> Lateness:
    """An assignment's score after what lateness takes off it.

    Args:
        course: whose due dates and rule for late work count.
        assignment: the assignment's id.
        score: what its exercises add up to.
        submitted_at: when it was handed in, where that is known.
    """
    late = days_late(course.by_id[assignment].due, submitted_at, course.late)
    if not late or score is None:
        return Lateness(score, late)
    factor = late_factor(late, course.late)
    percent = 100 - 100 * factor
    off = _("{percent} percent taken off") if percent else _("nothing taken off")
    note = ngettext("{days} day late: {off}.", "{days} days late: {off}.", late)
    sentence = note.format(days=late, off=off.format(percent=percent))
    return Lateness(rounded(Fraction(score) * factor), late, (sentence,))


def is_decided(outcomes: AssignmentResult) -> bool:
    """Whether the grader failed neither before the checks of an assignment nor on one of them."""
    exercises = outcomes.exercises
    return bool(exercises) and all(exercise_score(0, one.checks) is not None for one in exercises)


def exercise_score(points: float, checks: Sequence[CheckResult]) -> Decimal | None:
    """The share of the checks' weight that passed, in points; None when it is undecided."""
    if not checks or any(check.outcome is Outcome.ERROR for check in checks):
        return None
    total = sum(check.weight for check in checks)
    passed = sum(check.weight for check in checks if check.outcome is Outcome.PASSED)
    return rounded(Fraction(points) * Fraction(passed, total)) if total else Decimal(0)


def rounded(value: Fraction) -> Decimal:
    """A number of points to hundredths, halves up."""
    hundredths = math.floor(value * 100 + Fraction(1, 2))
    return (Decimal(hundredths) * HUNDREDTH).normalize() + Decimal(0)


def total(scores: Iterable[Decimal | None]) -> Decimal | None:
    """The sum of scores; None when one of them is undecided."""
    known = list(scores)
    return None if None in known else sum((s for s in known if s is not None), Decimal(0))


def days_late(due: datetime | None, submitted_at: datetime | None, rule: LateRule) -> int:
    """How many days a submission is late, each begun day counting; 0 where a date is unknown.

    Args:
        due: the end of the term.
        submitted_at: when it was handed in.
        rule: the course's, with its minutes of grace.
    """
    if due is None or submitted_at is None:
        return 0
    over = submitted_at - due - timedelta(minutes=rule.grace_minutes)
    return max(0, math.ceil(over / timedelta(days=1)))


def late_factor(days: int, rule: LateRule) -> Fraction:
    """The share of a score that is left after this many days, from 0 to 1."""
    return max(Fraction(0), 1 - Fraction(days * rule.percent_per_day, 100))
