"""From outcomes to points: exact arithmetic, rounded once per exercise. No student code is run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

from grader.core.language import _, ngettext
from grader.core.records import (
    UNDECIDED,
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    MistakeKind,
    Outcome,
    Result,
    Visibility,
    added,
    gravest_kind,
)
from grader.course.course import Assignment, Course, LateRule

HUNDREDTH = Decimal("0.01")

HIDDEN_SHARE = Fraction(3, 5)
"""What hidden checks decide of an exercise's values: else right values for the inputs that students
see would be worth most of it."""

KEPT = {
    MistakeKind.SLIP: (Fraction(70, 100), Fraction(85, 100)),
    MistakeKind.STEP: (Fraction(40, 100), Fraction(55, 100)),
    MistakeKind.IDEA: (Fraction(0), Fraction(15, 100)),
}
"""The least and the most that a recognised mistake leaves of an exercise."""

RIGHT_IN_PART = (
    (Fraction(1, 2), KEPT[MistakeKind.SLIP][0]),
    (Fraction(1, 4), KEPT[MistakeKind.STEP][1]),
)
"""From which share of right hidden values on how much is left at least, by the least of a slip and the
most of a step. What knows nothing, or was memorised, has fewer of them right: `validate` proves that."""

NAME_COSTS = Fraction(15, 100)
"""How much of an exercise the name of a slip or a step takes at most."""


def scored(course: Course, outcomes: Result) -> Result:
    """A result with scores, from one that has outcomes only.

    Args:
        course: whose points, due dates and rule for late work count.
        outcomes: how the checks of a submission ended.
    """
    return added_up(course, outcomes, [scored_alone(course, one) for one in outcomes.assignments])


def added_up(course: Course, outcomes: Result, scored: Sequence[AssignmentResult]) -> Result:
    """A result of assignments that have their scores.

    Args:
        course: the course.
        outcomes: the result as it is without scores.
        scored: its assignments.
    """
    assignments = with_causes(scored)
    if not assignments:
        return outcomes
    return replace(
        outcomes,
        score=score_of(assignments),
        max_score=possible(course, assignments),
        undecided=is_undecided(assignments),
        assignments=assignments,
    )


def score_of(parts: Iterable[AssignmentResult]) -> Decimal | None:
    """The sum of what was handed in and counts; None where that is nothing, or one is undecided."""
    counting = [part.score for part in parts if part.counts]
    return total(counting) if counting else None


def is_undecided(parts: Iterable[AssignmentResult]) -> bool:
    """Whether an assignment that was handed in has no score."""
    return any(part.counts and part.score is None for part in parts)


def with_causes(parts: Iterable[AssignmentResult]) -> tuple[AssignmentResult, ...]:
    """Assignments with the earlier exercises that are wrong and that others, which are not right, use."""
    parts = tuple(parts)
    if not any(exercise.uses for part in parts for exercise in part.exercises):
        return parts
    wrong = {e.id: e.name for part in parts for e in part.exercises if _is_wrong(e)}
    return tuple(
        replace(part, exercises=tuple(_with_causes(e, wrong) for e in part.exercises))
        for part in parts
    )


def _with_causes(exercise: ExerciseResult, wrong: Mapping[str, str]) -> ExerciseResult:
    names = tuple(wrong[id_] for id_ in exercise.uses if id_ in wrong)
    return replace(exercise, may_come_from=names) if names else exercise


def _is_wrong(exercise: ExerciseResult) -> bool:
    """Whether an exercise was attempted, and a check that counts did not pass."""
    ends = {check.outcome for check in exercise.checks}
    is_attempted = Outcome.NOT_ATTEMPTED not in ends and not ends <= {
        Outcome.MISSING,
        Outcome.BLOCKED,
    }
    return is_attempted and any(
        c.weight and c.outcome is not Outcome.PASSED for c in exercise.checks
    )


def possible(course: Course, parts: Sequence[AssignmentResult]) -> float:
    """The points that can be earned: optional assignments count only where somebody has no others.

    Args:
        course: the course.
        parts: the results whose points are added up.
    """
    required = [part for part in parts if not course.by_id[part.id].optional]
    return added(part.max_score for part in required) or added(part.max_score for part in parts)


def scored_alone(course: Course, outcomes: AssignmentResult) -> AssignmentResult:
    """An assignment with its score, from one that has outcomes only, or whose exercises have theirs."""
    assignment = course.by_id[outcomes.id]
    if not outcomes.exercises:  # the grader failed before any check
        return replace(outcomes, score=None, max_score=assignment.max_score)
    if outcomes.is_missing:
        return replace(outcomes, max_score=assignment.max_score)
    exercises = tuple(
        one if one.score is not None else with_score(one, course.exercises[one.id].points)
        for one in outcomes.exercises
    )
    days = days_late(assignment.due, outcomes.submitted_at, course.late)
    late = lateness(
        course.late, days, total(e.score for e in exercises), source=outcomes.time_source
    )
    return replace(
        outcomes,
        score=late.score,
        max_score=added(exercise.max_score for exercise in exercises),
        exercises=exercises,
        notes=(*outcomes.notes, *late.notes),
        days_late=late.days,
    )


def with_score(outcomes: ExerciseResult, points: float) -> ExerciseResult:
    """An exercise with the score of its checks, from one that has outcomes only."""
    score = exercise_score(points, outcomes.checks, outcomes.findings)
    return replace(outcomes, score=score, max_score=points)


def nothing_handed_in(assignment: Assignment) -> AssignmentResult:
    """What somebody has in an assignment who handed in nothing for it: no score, which is no zero."""
    exercises = tuple(ExerciseResult(e.id, None, e.points) for e in assignment.exercises)
    return AssignmentResult(assignment.id, "", None, assignment.max_score, exercises=exercises)


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
    rule: LateRule, days: int, score: Decimal | None, paid: int = 0, source: str = ""
) -> Lateness:
    """An assignment's score after what lateness takes off it.

    Args:
        rule: the course's rule for late work.
        days: how many days late it is.
        score: what its exercises add up to.
        paid: how many of these days cost nothing.
        source: where the time is known from; "" for nbgrader's timestamp.
    """
    if not days or score is None:
        return Lateness(score, days)
    factor = late_factor(days - paid, rule)
    percent = 100 - 100 * factor
    off = _("{percent} percent taken off") if percent else _("nothing taken off")
    if source:
        note = ngettext(
            "{days} day late by {source}: {off}.", "{days} days late by {source}: {off}.", days
        )
    else:
        note = ngettext("{days} day late: {off}.", "{days} days late: {off}.", days)
    sentence = note.format(days=days, off=off.format(percent=percent), source=_(source))
    return Lateness(rounded(Fraction(score) * factor), days, (sentence,))


def is_decided(outcomes: AssignmentResult) -> bool:
    """Whether an assignment was judged in all its checks."""
    exercises = outcomes.exercises
    return bool(exercises) and all(_has_score(one.checks) for one in exercises)


def _has_score(checks: Sequence[CheckResult]) -> bool:
    """Whether each check of an exercise could be judged."""
    outcomes = [check.outcome for check in checks]
    return bool(outcomes) and not any(one in outcomes for one in UNDECIDED)


def exercise_score(
    points: float, checks: Sequence[CheckResult], findings: Sequence[Finding] = ()
) -> Decimal | None:
    """What an exercise earns, in points; None when it is undecided.

    Args:
        points: what it is worth.
        checks: how its checks ended.
        findings: the known mistakes that were recognised, which bound what is left.
    """
    if not _has_score(checks):
        return None
    return rounded(Fraction(points) * earned_share(checks, findings))


def earned_share(checks: Sequence[CheckResult], findings: Sequence[Finding] = ()) -> Fraction:
    """What its checks leave of an exercise, from 0 to 1, within the bounds of known mistakes.

    The least that a kind leaves holds only where mistakes explain all that is wrong, and where some
    values were judged: behind an exception, code may know nothing.
    """
    share = _passed_share(checks)
    if share == 1:
        return share
    share = max(share, _right_in_part(checks))
    kind = gravest_kind(findings) if findings else None
    if kind is None:
        return share
    least, most = KEPT[kind]
    if kind is not MistakeKind.IDEA:
        most = max(most, share - NAME_COSTS)
    if any(finding.is_partial for finding in findings) or not is_judged(checks):
        least = Fraction(0)
    return min(max(share, least), most)


def _right_in_part(checks: Sequence[CheckResult]) -> Fraction:
    """The least that is left of an exercise for the hidden values that are right."""
    unseen = [c for c in checks if c.visibility is Visibility.HIDDEN and not c.is_conduct]
    right = _weight_passed(unseen)
    return next((least for bound, least in RIGHT_IN_PART if right >= bound), Fraction(0))


def _passed_share(checks: Sequence[CheckResult]) -> Fraction:
    """The share of an exercise that its checks leave, from 0 to 1.

    The checks' weights that passed, where hidden checks decide `HIDDEN_SHARE` of all. Checks of
    conduct take from that what they weigh when they fail: they earn nothing by themselves.
    """
    counted = [check for check in checks if check.weight]
    if counted and all(check.outcome is Outcome.PASSED for check in counted):
        return Fraction(1)
    values = [check for check in counted if not check.is_conduct] or counted
    seen = [check for check in values if check.visibility is Visibility.VISIBLE]
    unseen = [check for check in values if check.visibility is Visibility.HIDDEN]
    if seen and unseen:
        right = (1 - HIDDEN_SHARE) * _weight_passed(seen) + HIDDEN_SHARE * _weight_passed(unseen)
    else:
        right = _weight_passed(values)
    lost = [check for check in counted if check.is_conduct and check.outcome is not Outcome.PASSED]
    return right * (1 - Fraction(_weight(lost), max(1, _weight(counted))))


def _weight(checks: Iterable[CheckResult]) -> int:
    return sum(check.weight for check in checks)


def _weight_passed(checks: Sequence[CheckResult]) -> Fraction:
    passed = [check for check in checks if check.outcome is Outcome.PASSED]
    return Fraction(_weight(passed), max(1, _weight(checks)))


def is_judged(checks: Sequence[CheckResult]) -> bool:
    """Whether values of an exercise were judged, hidden ones where there are any."""
    values = [check for check in checks if check.weight and not check.is_conduct]
    unseen = [check for check in values if check.visibility is Visibility.HIDDEN]
    return any(
        check.outcome is Outcome.PASSED or (check.outcome is Outcome.FAILED and not check.raised)
        for check in unseen or values
    )


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
    if days > rule.days:
        return Fraction(0)
    return max(Fraction(0), 1 - Fraction(days * rule.percent_per_day, 100))
