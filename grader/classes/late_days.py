"""Which late days a student spends on what, so that the most points are left."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from grader.classes.personal import LateDays
from grader.course.course import LateRule
from grader.judging.scoring import late_factor, rounded


@dataclass(frozen=True, slots=True)
class LateWork:
    """An assignment: what its exercises add up to, and how many days late it was.

    Args:
        score: None where it is undecided: nothing is spent on it.
        days: days begun after the due date.
    """

    score: Decimal | None
    days: int


def days_to_spend(works: Sequence[LateWork], rule: LateRule, allowed: LateDays) -> tuple[int, ...]:
    """The late days to spend on each assignment: for the most points, and as few as that takes.

    Args:
        works: the assignments, in the order of the course.
        rule: what a day late costs.
        allowed: how many days there are.
    """
    best: dict[int, tuple[Decimal, tuple[int, ...]]] = {0: (Decimal(0), ())}
    for work in works:
        options = _options(work, rule, allowed)
        found: dict[int, tuple[Decimal, tuple[int, ...]]] = {}
        for used, (score, spent) in best.items():
            for days, left in enumerate(options):
                if used + days <= allowed.budget:
                    one = (score + left, (*spent, days))
                    found[used + days] = max(found.get(used + days, one), one)
        best = found
    return max((score, -used, spent) for used, (score, spent) in best.items())[-1]


def _options(work: LateWork, rule: LateRule, allowed: LateDays) -> list[Decimal]:
    """What is left of an assignment's score when 0, 1, 2, … late days are spent on it."""
    if not work.score:
        return [Decimal(0)]
    most = min(work.days, allowed.per_assignment, allowed.budget)
    score = Fraction(work.score)
    return [rounded(score * late_factor(work.days - days, rule)) for days in range(most + 1)]
