"""From outcomes to points: exact arithmetic, rounded once per exercise."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from grader.core.records import CheckResult, Outcome
from grader.course.course import LateRule

HUNDREDTH = Decimal("0.01")


def exercise_score(points: int, checks: Sequence[CheckResult]) -> Decimal | None:
    """The share of the checks' weight that passed, in points; None when it is undecided."""
    if not checks or any(check.outcome is Outcome.ERROR for check in checks):
        return None
    total = sum(check.weight for check in checks)
    passed = sum(check.weight for check in checks if check.outcome is Outcome.PASSED)
    return rounded(Fraction(points * passed, total)) if total else Decimal(0)


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
