"""The better of two scores: what an earlier run gave stays where a new one would give less."""

from msgspec.structs import replace

from grader.core.language import _
from grader.core.records import AssignmentResult, Result, added
from grader.judging.scoring import is_undecided, score_of


def not_lower(now: Result, earlier: Result | None) -> Result:
    """A result in which no assignment has fewer points than before.

    What is undecided stays so, and an assignment that is worth other points now is as it is now.

    Args:
        now: the new result.
        earlier: the one before; None where there is none.
    """
    if earlier is None or not earlier.submitted:
        return now
    found = {one.id: one for one in now.assignments}
    kept = {
        one.id: _kept(one)
        for one in earlier.assignments
        if _is_better(one, found.get(one.id), is_submitted=now.submitted)
    }
    if not kept:
        return now
    everything = earlier.assignments if not now.submitted else now.assignments
    assignments = tuple(kept.get(one.id, one) for one in everything)
    return replace(
        now,
        score=score_of(assignments),
        max_score=added(one.max_score for one in assignments),
        undecided=is_undecided(assignments),
        submitted=True,
        assignments=assignments,
        decided=(*now.decided, *(f"kept {id_}" for id_ in kept)),
        automatic=now.automatic if now.decided else now.score,
    )


def _is_better(
    earlier: AssignmentResult, now: AssignmentResult | None, *, is_submitted: bool
) -> bool:
    if earlier.score is None or not earlier.counts:
        return False
    if now is None or now.is_missing:
        return now is not None or not is_submitted
    is_worth_the_same = earlier.max_score == now.max_score
    return is_worth_the_same and now.score is not None and earlier.score > now.score


def _kept(earlier: AssignmentResult) -> AssignmentResult:
    note = _("The score of an earlier run is kept, because it is higher.")
    if note in earlier.notes:
        return earlier
    return replace(earlier, notes=(*earlier.notes, note))
