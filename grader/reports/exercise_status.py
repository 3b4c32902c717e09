"""How an exercise stands, as one of a few words that pages, maps and counts share."""

from enum import StrEnum

from grader.core.language import _
from grader.core.records import ExerciseResult, Outcome


class ExerciseStatus(StrEnum):
    """How an exercise stands; the value is its name in style sheets."""

    SOLVED = "solved"
    PARTLY = "partly"
    WRONG = "wrong"
    WAITING = "waiting"
    UNTOUCHED = "untouched"
    MISSING = "missing"
    UNDECIDED = "undecided"

    @property
    def sign(self) -> str:
        """One character that tells it apart without colour."""
        return {
            ExerciseStatus.SOLVED: "✓",
            ExerciseStatus.PARTLY: "◐",
            ExerciseStatus.WRONG: "✗",
            ExerciseStatus.WAITING: "…",
            ExerciseStatus.UNTOUCHED: "·",
            ExerciseStatus.MISSING: "–",
            ExerciseStatus.UNDECIDED: "!",
        }[self]

    @property
    def word(self) -> str:
        """In words."""
        return {
            ExerciseStatus.SOLVED: _("solved"),
            ExerciseStatus.PARTLY: _("partly right"),
            ExerciseStatus.WRONG: _("not right yet"),
            ExerciseStatus.WAITING: _("waiting for another exercise"),
            ExerciseStatus.UNTOUCHED: _("not attempted yet"),
            ExerciseStatus.MISSING: _("missing"),
            ExerciseStatus.UNDECIDED: _("undecided: the grader failed"),
        }[self]


def exercise_status(exercise: ExerciseResult) -> ExerciseStatus:
    """How an exercise stands."""
    if exercise.undecided:
        return ExerciseStatus.UNDECIDED
    if exercise.score == exercise.max_score:
        return ExerciseStatus.SOLVED
    if exercise.score:
        return ExerciseStatus.PARTLY
    return {
        Outcome.NOT_ATTEMPTED: ExerciseStatus.UNTOUCHED,
        Outcome.MISSING: ExerciseStatus.MISSING,
        Outcome.BLOCKED: ExerciseStatus.WAITING,
    }.get(exercise.checks[0].outcome, ExerciseStatus.WRONG)
