"""Outcomes as data: how the checks of one assignment ended for some files, without words of the course.

Titles, weights, points, and the sentences on known mistakes are put in when a result is made of them.
"""

import hashlib
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.core.kept import kept
from grader.core.language import _, current
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    CodeLocation,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Picture,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course
from grader.course.misconceptions import read_misconceptions
from grader.course.outcome_parts import everything_of
from grader.judging.outcomes import has_to_hold_first
from grader.judging.scoring import is_decided


class CheckOutcome(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """How one check ended; `name` is its id after that of the exercise, `visible::test_…`."""

    name: str
    outcome: Outcome
    duration_s: float
    message: str = ""
    blocked_by: str = ""
    waits_for: str = ""
    raised: str = ""
    may_follow: bool = False
    where: CodeLocation | None = None
    picture: Picture | None = None


class FindingOutcome(msgspec.Struct, frozen=True, array_like=True):
    """A mistake that was recognised: the ids of those that it may be."""

    candidates: tuple[str, ...]
    is_partial: bool


class ExerciseOutcome(msgspec.Struct, frozen=True, array_like=True):
    """How one exercise went."""

    id: str
    checks: tuple[CheckOutcome, ...]
    findings: tuple[FindingOutcome, ...] = ()
    defined: CodeLocation | None = None
    judged_with: tuple[str, ...] = ()
    to_judge_with: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


class AssignmentOutcome(msgspec.Struct, frozen=True, array_like=True):
    """How one assignment went.

    Args:
        is_decided: whether each check was judged.
        is_handed_in: whether anything was handed in for it.
    """

    id: str
    is_decided: bool
    is_handed_in: bool
    read_from: str
    isolation: tuple[str, ...]
    exercises: tuple[ExerciseOutcome, ...] = ()
    notes: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    file_failures: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


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
    others = {
        "is_decided": is_decided(part),
        "is_handed_in": is_there,
        "isolation": result.isolation,
        "exercises": tuple(map(_exercise, part.exercises)) if is_there else (),
    }
    return AssignmentOutcome(**_shared(part, AssignmentOutcome) | others)


def _shared(record: msgspec.Struct, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a record that another kind of record has as well."""
    names = (name for name in kind.__struct_fields__ if hasattr(record, name))
    return {name: getattr(record, name) for name in names}


def _exercise(one: ExerciseResult) -> ExerciseOutcome:
    findings = (
        FindingOutcome(tuple(m.id for m in f.candidates), f.is_partial) for f in one.findings
    )
    others = {"checks": tuple(map(_check, one.checks)), "findings": tuple(findings)}
    return ExerciseOutcome(**_shared(one, ExerciseOutcome) | others)


def _check(one: CheckResult) -> CheckOutcome:
    message = "" if one.blocked_by or one.message == one.title else one.message
    others = {"name": one.id.partition("::")[2], "message": message}
    return CheckOutcome(**_shared(one, CheckOutcome) | others)


def not_handed_in(assignment: str) -> AssignmentOutcome:
    """The outcome of nothing."""
    return AssignmentOutcome(assignment, True, False, "", ())


def failed(assignment: str, reason: str) -> AssignmentOutcome:
    """The outcome where the grader itself failed, or work cannot be read."""
    note = _("The grader itself failed: {reason}").format(reason=reason)
    return AssignmentOutcome(assignment, False, True, "", (), notes=(note,))


# To a result.


class Declared(msgspec.Struct, frozen=True):
    """What the course says of an assignment's checks and known mistakes, in one language.

    Args:
        checks: weight, whether it is one of conduct, and title, by the check's id.
        mistakes: the known mistakes by id.
    """

    checks: dict[str, tuple[int, bool, str]]
    mistakes: dict[str, Mistake]


def declared_by(course: Course, assignment: Assignment) -> Declared:
    """What the course says, worked out once for each state of the assignment."""

    def make() -> bytes:
        from grader.judging.collect import collect  # imports torch

        found = collect(course, [e.id for e in assignment.exercises], tuple(Visibility))
        checks = {check.id: (check.weight, check.is_conduct, check.title) for check in found}
        mistakes = {
            one.id: replace(
                one.mistake,
                symptom=course.text(one.mistake.symptom),
                question=course.text(one.mistake.question),
            )
            for one in read_misconceptions(course, assignment)
        }
        return msgspec.json.encode(Declared(checks, mistakes))

    catalogues = sorted((course.translations / current()).rglob("*.mo"))
    words = [hashlib.sha256(path.read_bytes()).hexdigest() for path in catalogues]
    key = [everything_of(course, assignment), current(), words]
    return msgspec.json.decode(kept("declared", key, make, most=256), type=Declared)


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
        return Words(some, {a.id: declared_by(course, a) for a in some.assignments})

    def result(self, outcome: AssignmentOutcome) -> AssignmentResult:
        """An assignment's result, without scores."""
        assignment, words = self.course.by_id[outcome.id], self.declared[outcome.id]
        known = {one.id: one for one in outcome.exercises}
        is_known = bool(known) or not outcome.is_handed_in  # else nobody can say what was
        exercises = tuple(
            self._exercise(known[e.id], e.points, words)
            if e.id in known
            else ExerciseResult(e.id, None, e.points)
            for e in (assignment.exercises if is_known else ())
        )
        return AssignmentResult(
            id=outcome.id,
            read_from=outcome.read_from,
            score=None,
            max_score=assignment.max_score,
            exercises=exercises,
            notes=outcome.notes,
            defects=outcome.defects,
            file_failures=outcome.file_failures,
            ignored=outcome.ignored,
        )

    def _exercise(self, one: ExerciseOutcome, points: float, words: Declared) -> ExerciseResult:
        checks = words.checks
        return ExerciseResult(
            id=one.id,
            score=None,
            max_score=points,
            checks=tuple([_worded(f"{one.id}::{c.name}", c, checks) for c in one.checks]),
            findings=tuple(
                Finding(
                    tuple(words.mistakes.get(m) or Mistake(m, m, "") for m in f.candidates),
                    f.is_partial,
                )
                for f in one.findings
            ),
            defined=one.defined,
            judged_with=one.judged_with,
            to_judge_with=one.to_judge_with,
            uses=one.uses,
        )


def _worded(
    id_: str, one: CheckOutcome, checks: Mapping[str, tuple[int, bool, str]]
) -> CheckResult:
    weight, is_conduct, title = checks.get(id_) or _unknown(one.name)
    is_visible = one.name[0] == "v"
    visibility = Visibility.VISIBLE if is_visible else Visibility.HIDDEN
    if one.outcome is Outcome.PASSED:
        seconds = one.duration_s
        return CheckResult(
            id_, title, visibility, weight, one.outcome, "", seconds, is_conduct=is_conduct
        )
    message = one.message
    if one.blocked_by:
        other = checks.get(one.blocked_by) or _unknown(one.blocked_by)
        message = has_to_hold_first(other[2])
    elif not message and one.outcome is Outcome.FAILED:
        message = title
    return CheckResult(
        id=id_,
        title=title,
        visibility=visibility,
        weight=weight,
        outcome=one.outcome,
        message=message,
        duration_s=one.duration_s,
        picture=one.picture,
        where=one.where,
        waits_for=one.waits_for,
        raised=one.raised,
        may_follow=one.may_follow,
        is_conduct=is_conduct,
        blocked_by=one.blocked_by,
    )


def _unknown(name: str) -> tuple[int, bool, str]:
    """What stands for a check that the course does not have any more."""
    return 1, False, name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
