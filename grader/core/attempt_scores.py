"""What several attempts earned: a part of the record of a result."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class AttemptScore:
    """What an assignment earned each time it was handed in.

    Args:
        at: when, in ISO's form.
        score: after what lateness takes off; None when it is undecided.
        days_late: days begun after the due date.
        counts: whether the assignment's score, or a part of it, is of this attempt.
        exercises: the score of each exercise, without lateness, by id.
        tried: the ids of exercises that were not left as they were handed out.
    """

    at: str
    score: Decimal | None
    days_late: int
    counts: bool
    exercises: Mapping[str, Decimal | None]
    tried: tuple[str, ...] = ()
