"""Outcomes as data: how the checks of one assignment ended for some files, without words of the course.

Titles, weights, points, and the sentences on known mistakes are put in when a result is made of them.
"""

import hashlib
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.core.kept import kept
from grader.core.language import _, current
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Mistake,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course
from grader.course.misconceptions import all_misconceptions
from grader.course.outcome_parts import everything_of
from grader.judging.outcomes import has_to_hold_first
from grader.judging.scoring import is_decided, with_score

if TYPE_CHECKING:
    from grader.judging.run import Check


class AssignmentOutcome(msgspec.Struct, frozen=True, array_like=True):
    """How one assignment went.

    Args:
        is_decided: whether each check was judged.
        is_handed_in: whether anything was handed in for it.
        isolation: the layers around the student's code.
        part: its result, without what the course says of it: titles, weights, points, sentences on
            known mistakes; of nothing no exercises.
    """

    is_decided: bool
    is_handed_in: bool
    isolation: tuple[str, ...]
    part: AssignmentResult


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(AssignmentOutcome)


def packed(outcome: AssignmentOutcome) -> bytes:
    """An outcome as it is stored."""
    return zlib.compress(_encoder.encode(outcome), 3)


def unpacked(data: bytes) -> AssignmentOutcome:
    """An outcome from what was stored.

    Raises:
        UsageError: when it is not one.
    """
    try:
        return _decoder.decode(zlib.decompress(data))
    except (zlib.error, msgspec.DecodeError) as error:
        raise UsageError(
            f"An outcome in class.sqlite cannot be read ({error}). Run the command with --force."
        ) from error


# From a result.


def outcomes_of(result: Result) -> dict[str, AssignmentOutcome]:
    """What was found out about one submission, by assignment."""
    return {part.id: _outcome(part, result) for part in result.assignments}


def _outcome(part: AssignmentResult, result: Result) -> AssignmentOutcome:
    is_there = bool(part.read_from) or not is_decided(part)
    exercises = tuple(map(_wordless, part.exercises)) if is_there else ()
    part = replace(part, max_score=0, exercises=exercises, submitted_at=None)
    return AssignmentOutcome(is_decided(part) or not is_there, is_there, result.isolation, part)


def _wordless(one: ExerciseResult) -> ExerciseResult:
    findings = tuple(
        replace(found, candidates=tuple(Mistake(m.id, "", "") for m in found.candidates))
        for found in one.findings
    )
    checks = tuple(
        replace(
            check,
            title="",
            weight=0,
            is_conduct=False,
            message="" if check.blocked_by or check.message == check.title else check.message,
            reason=None,
            broke_off=False,
        )
        for check in one.checks
    )
    return replace(one, max_score=0, findings=findings, checks=checks)


def not_handed_in(assignment: str) -> AssignmentOutcome:
    """The outcome of nothing."""
    return AssignmentOutcome(True, False, (), AssignmentResult(assignment, "", None, 0))


def failed(assignment: str, reason: str) -> AssignmentOutcome:
    """The outcome where the grader itself failed, or work cannot be read."""
    note = _("The grader itself failed: {reason}").format(reason=reason)
    part = AssignmentResult(assignment, "", None, 0, notes=(note,))
    return AssignmentOutcome(False, True, (), part)


# To a result.


class Declared(msgspec.Struct, frozen=True):
    """What the course says of an assignment's checks and known mistakes, in one language.

    Args:
        checks: weight, whether it is one of conduct, and title, by the check's id.
        mistakes: the known mistakes by id.
    """

    checks: dict[str, tuple[int, bool, str]]
    mistakes: dict[str, Mistake]


def declared_by(course: Course, assignments: Sequence[Assignment]) -> dict[str, Declared]:
    """What the course says of assignments, worked out once for each state of one."""

    @cache
    def collected() -> "Iterable[Check]":
        from grader.judging.collect import collect  # imports torch

        return collect(course, [e.id for a in assignments for e in a.exercises], tuple(Visibility))

    def make(assignment: Assignment) -> bytes:
        found = (check for check in collected() if check.exercise.assignment == assignment.id)
        checks = {check.id: (check.weight, check.is_conduct, check.title) for check in found}
        mistakes = {
            one.id: replace(
                one.mistake,
                symptom=course.text(one.mistake.symptom),
                question=course.text(one.mistake.question),
            )
            for one in all_misconceptions(course)[assignment.id]
        }
        return msgspec.json.encode(Declared(checks, mistakes))

    def read(assignment: Assignment) -> Declared:
        key = [everything_of(course, assignment), current(), words]
        content = kept("declared", key, partial(make, assignment), most=256)
        return msgspec.json.decode(content, type=Declared)

    catalogues = sorted((course.translations / current()).rglob("*.mo"))
    words = [hashlib.sha256(path.read_bytes()).hexdigest() for path in catalogues]
    return {assignment.id: read(assignment) for assignment in assignments}


@dataclass(frozen=True, slots=True)
class Words:
    """Turns outcomes into results, with what the course says now.

    Args:
        course: with the assignments that results have.
        declared: what the course says, by assignment.
    """

    course: Course
    declared: Mapping[str, Declared]

    @staticmethod
    def of(course: Course, assignments: Collection[str]) -> "Words":
        """With what the course says now of some assignments, which may import others."""
        some = course.only(assignments)
        return Words(some, declared_by(course, some.assignments))

    def result(self, outcome: AssignmentOutcome) -> AssignmentResult:
        """An assignment's result, whose exercises have the scores of their checks."""
        part = outcome.part
        assignment, words = self.course.by_id[part.id], self.declared[part.id]
        known = {one.id: one for one in part.exercises}
        is_known = bool(known) or not outcome.is_handed_in  # else nobody can say what was
        exercises = tuple(
            _worded(known.get(e.id) or ExerciseResult(e.id, None, 0), e.points, words)
            for e in (assignment.exercises if is_known else ())
        )
        return replace(part, max_score=assignment.max_score, exercises=exercises)


def _worded(one: ExerciseResult, points: float, words: Declared) -> ExerciseResult:
    checks = tuple([_worded_check(check, words.checks) for check in one.checks])
    findings = tuple(
        replace(
            found,
            candidates=tuple(
                words.mistakes.get(m.id) or Mistake(m.id, m.id, "") for m in found.candidates
            ),
        )
        for found in one.findings
    )
    return with_score(replace(one, checks=checks, findings=findings), points)


def _worded_check(check: CheckResult, checks: Mapping[str, tuple[int, bool, str]]) -> CheckResult:
    weight, is_conduct, title = checks.get(check.id) or _unknown(check.id)
    message = check.message
    if check.blocked_by:
        message = has_to_hold_first((checks.get(check.blocked_by) or _unknown(check.blocked_by))[2])
    elif not message and check.outcome is Outcome.FAILED:
        message = title
    return replace(check, title=title, weight=weight, is_conduct=is_conduct, message=message)


def _unknown(name: str) -> tuple[int, bool, str]:
    """What stands for a check that the course does not have any more."""
    return 1, False, name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
