"""What is known of the exercises of a submission that are judged before another one."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.core.records import CheckResult, Finding, Outcome

NO_CODE = (Outcome.NOT_ATTEMPTED, Outcome.MISSING, Outcome.BLOCKED)


@dataclass(frozen=True, slots=True)
class Carried:
    """Known mistakes that may come along in an exercise which grows from this one.

    Args:
        exercise: the id of the one in which they were recognised.
        mistakes: their names.
    """

    exercise: str
    mistakes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """How an exercise stands, all of whose checks have run.

    Args:
        is_attempted: whether code of the student's was judged, and nothing of it is a stub.
        is_right: whether all checks that count have passed.
        mistakes: the names of the known mistakes that were recognised for certain.
        is_explained: whether mistakes that were recognised are all that is wrong.
        comes_along: mistakes that explain all that is wrong in it, or in what it was judged beside.
    """

    is_attempted: bool
    is_right: bool
    mistakes: tuple[str, ...] = ()
    is_explained: bool = False
    comes_along: Carried | None = None


def judged(checks: Sequence[CheckResult], findings: Sequence[Finding] = ()) -> Judged:
    """How an exercise stands after its checks and what was recognised in them."""
    ends = {check.outcome for check in checks}
    certain = [finding.candidates[0].id for finding in findings if len(finding.candidates) == 1]
    return Judged(
        is_attempted=Outcome.NOT_ATTEMPTED not in ends and not ends <= set(NO_CODE),
        is_right=is_right(checks),
        mistakes=tuple(certain),
        is_explained=bool(findings) and not any(finding.is_partial for finding in findings),
    )


def is_right(checks: Sequence[CheckResult]) -> bool:
    """Whether all checks that count have passed."""
    return all(check.outcome is Outcome.PASSED for check in checks if check.weight)
