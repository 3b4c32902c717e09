"""What decisions mean for one student: other dates, points that do not count, scores by hand."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from grader.core.text import hash_of


@dataclass(frozen=True, slots=True)
class Override:
    """An exercise's points as a person gave them, and why, for the student to read."""

    exercise: str
    points: float
    reason: str


@dataclass(frozen=True, slots=True)
class CheckDecision:
    """A check that does not count, or counts as passed, for everybody.

    Args:
        check: its id.
        is_given: whether it counts as passed; else it does not count at all.
        reason: why, for students to read; "" for none.
    """

    check: str
    is_given: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LateDays:
    """Days that cost a student nothing.

    Args:
        budget: how many each student has in all.
        per_assignment: how many may be spent on one assignment.
    """

    budget: int
    per_assignment: int


@dataclass(frozen=True, slots=True)
class Personal:
    """What holds for one student besides the course; each list is in order of its ids.

    Args:
        due: the due dates that are later than the course's, by assignment.
        exempt: the ids of exercises that do not count.
        overrides: points that a person gave.
        checks: what was decided about checks.
        late_days: what each student has of them; None where there are none.
    """

    due: tuple[tuple[str, datetime], ...] = ()
    exempt: tuple[str, ...] = ()
    overrides: tuple[Override, ...] = ()
    checks: tuple[CheckDecision, ...] = ()
    late_days: LateDays | None = None

    @property
    def digest(self) -> str:
        """A hash of all of it; "" where there is nothing."""
        if self == NO_DECISIONS:
            return ""
        return hash_of(repr(self))[:16]

    def mattering(self, open_: Collection[str], *, is_late: bool) -> "Personal":
        """The same without what cannot change anything.

        A check that is dropped or given changes no full score, and late days nothing that is not
        late.

        Args:
            open_: the ids of the exercises that have less than their points.
            is_late: whether anything is late.
        """
        checks = tuple(c for c in self.checks if c.check.partition("::")[0] in open_)
        return replace(self, checks=checks, late_days=self.late_days if is_late else None)

    def about(self, assignment: str) -> "Personal":
        """The same without what is about other assignments."""

        def is_of(id_: str) -> bool:
            return id_.startswith(f"{assignment}/")

        return replace(
            self,
            due=tuple(one for one in self.due if one[0] == assignment),
            exempt=tuple(filter(is_of, self.exempt)),
            overrides=tuple(one for one in self.overrides if is_of(one.exercise)),
            checks=tuple(one for one in self.checks if is_of(one.check)),
        )


NO_DECISIONS = Personal()
"""Nothing was decided about a student."""
