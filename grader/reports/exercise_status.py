"""How an exercise stands, as one of a few words that pages, maps and counts share."""

from enum import StrEnum

from grader.core.language import _
from grader.core.records import ExerciseResult, Outcome


class Standing(StrEnum):
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
            Standing.SOLVED: "✓",
            Standing.PARTLY: "◐",
            Standing.WRONG: "✗",
            Standing.WAITING: "…",
            Standing.UNTOUCHED: "·",
            Standing.MISSING: "–",
            Standing.UNDECIDED: "!",
        }[self]

    @property
    def word(self) -> str:
        """In words."""
        return {
            Standing.SOLVED: _("solved"),
            Standing.PARTLY: _("partly right"),
            Standing.WRONG: _("not right yet"),
            Standing.WAITING: _("waiting for another exercise"),
            Standing.UNTOUCHED: _("not attempted yet"),
            Standing.MISSING: _("missing"),
            Standing.UNDECIDED: _("undecided: the grader failed"),
        }[self]


def standing(exercise: ExerciseResult) -> Standing:
    """How an exercise stands."""
    if exercise.undecided:
        return Standing.UNDECIDED
    if exercise.score == exercise.max_score:
        return Standing.SOLVED
    if exercise.score:
        return Standing.PARTLY
    return {
        Outcome.NOT_ATTEMPTED: Standing.UNTOUCHED,
        Outcome.MISSING: Standing.MISSING,
        Outcome.BLOCKED: Standing.WAITING,
    }.get(exercise.checks[0].outcome, Standing.WRONG)
