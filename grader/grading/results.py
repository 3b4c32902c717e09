"""Results as JSON: the instructor's record, and the student's copy of it."""

import json
import sys
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from grader.core.language import _
from grader.core.records import (
    RESULT_FORMAT,
    AssignmentResult,
    AttemptScore,
    CheckResult,
    ExerciseResult,
    Outcome,
    Picture,
    Points,
    Result,
    Visibility,
)
from grader.submissions.nbgrader_defects import is_defect

NOT_FOUND = (Outcome.MISSING, Outcome.BLOCKED)


def points(score: Decimal | None) -> Points | None:
    """A score as a JSON number: an integer where it is one."""
    if score is None:
        return None
    return int(score) if score == score.to_integral_value() else float(score)


def exact(score: Points | None) -> Decimal | None:
    """A score that was a JSON number, as it was before."""
    return None if score is None else Decimal(str(score))


def is_handed_in(result: Result, assignment: AssignmentResult) -> bool:
    """Whether a file was handed in for an assignment.

    One file may be handed in for several: it counts for those of which it defines anything, and
    for all where it defines nothing at all.
    """
    if not assignment.read_from or has_something(assignment):
        return bool(assignment.read_from)
    others = (a for a in result.assignments if a.read_from == assignment.read_from)
    return not any(has_something(other) for other in others)


def has_points(result: Result, assignment: AssignmentResult) -> bool:
    """Whether an assignment has a grade: something was handed in for it, or a person gave points."""
    return assignment.is_decided_by_hand or is_handed_in(result, assignment)


def has_something(assignment: AssignmentResult) -> bool:
    """Whether anything that an assignment asks for was found in what was handed in."""
    return any(check.outcome not in NOT_FOUND for check in assignment.checks)


def for_student(result: Result) -> Result:
    """The same result without the run's seed and without what hidden checks say and show.

    What nbgrader would stumble over is for instructors, too.
    """
    message = _("This is a hidden check: its inputs are not shown.")

    def public(check: CheckResult) -> CheckResult:
        if check.visibility is Visibility.VISIBLE or check.outcome is Outcome.PASSED:
            return check
        hidden = replace(check, message=message, picture=None, where=None, waits_for="", raised="")
        return replace(hidden, reason=None)

    def exercises(assignment: AssignmentResult) -> tuple[ExerciseResult, ...]:
        return tuple(
            replace(exercise, checks=tuple(map(public, exercise.checks)))
            for exercise in assignment.exercises
        )

    def notes(assignment: AssignmentResult) -> tuple[str, ...]:
        return tuple(note for note in assignment.notes if not is_defect(note))

    assignments = tuple(
        replace(a, exercises=exercises(a), notes=notes(a)) for a in result.assignments
    )
    return replace(result, seed="", assignments=assignments)


# Writing.

IN_NO_FILE: dict[type, dict[str, Any]] = {
    CheckResult: {"reason": None, "broke_off": False},
    AssignmentResult: {"defects": (), "submitted_at": None},
}
"""Fields that are known only where work was just read or run, with the defaults that files leave out."""

_encode = msgspec.json.Encoder(decimal_format="number").encode
json_text = json.JSONEncoder(ensure_ascii=False, default=points).encode


def result_text(result: Result) -> str:
    """A result as JSON in a line, byte for byte as the standard library writes it.

    msgspec writes it three times as fast, but other digits of tiny and huge numbers, and no halves
    of characters.
    """
    written = _written(result)
    if all(_has_usual_numbers(c.picture) for c in written.checks if c.picture is not None):
        try:
            return msgspec.json.format(_encode(written), indent=0).decode()
        except UnicodeEncodeError:
            pass
    return json_text(_plain(written))


def to_json(result: Result) -> dict[str, Any]:
    """The record of a result."""
    record: dict[str, Any] = as_json(_written(result))
    return record


def as_json(record: object) -> Any:
    """What JSON says of records."""
    return json.loads(json_text(_plain(record)))


def exercise_in_file(exercise: ExerciseResult) -> ExerciseResult:
    """What a file says of an exercise: nothing of how its checks were just run."""
    decision = exercise.decision
    if decision is not None:
        decision = replace(decision, automatic=_shortest(decision.automatic))
    checks = tuple(
        replace(check, **IN_NO_FILE[CheckResult]) if check.reason or check.broke_off else check
        for check in exercise.checks
    )
    return replace(exercise, score=_shortest(exercise.score), decision=decision, checks=checks)


def assignment_in_file(assignment: AssignmentResult) -> AssignmentResult:
    """What a file says of an assignment: nothing that is known only where it was just read."""

    def attempt(one: AttemptScore) -> AttemptScore:
        exercises = {id_: _shortest(score) for id_, score in one.exercises.items()}
        return replace(one, score=_shortest(one.score), exercises=exercises)

    return replace(
        assignment,
        score=_shortest(assignment.score),
        attempts=tuple(map(attempt, assignment.attempts)),
        exercises=tuple(map(exercise_in_file, assignment.exercises)),
        **IN_NO_FILE[AssignmentResult],
    )


def _written(result: Result) -> Result:
    return replace(
        result,
        score=_shortest(result.score),
        automatic=_shortest(result.automatic),
        assignments=tuple(map(assignment_in_file, result.assignments)),
    )


def _plain(record: object) -> Any:
    """Dictionaries and lists of a record, its scores as they are."""
    return msgspec.to_builtins(record, builtin_types=(Decimal,))


@lru_cache(maxsize=10_000)
def _shortest(score: Decimal | None) -> Decimal | None:
    """The same score with as few digits as a JSON number has."""
    return exact(points(score))


def _has_usual_numbers(picture: Picture) -> bool:
    """Whether msgspec writes a picture's numbers as the standard library does."""
    numbers = _encode((picture.expected, picture.received))
    return b"e" not in numbers and b"0.0000" not in numbers


# Reading.


class _Head(msgspec.Struct):
    format: str


_head_of = msgspec.json.Decoder(_Head).decode
_decode = msgspec.json.Decoder(Result).decode


def parsed(record: bytes | str) -> Result:
    """A result from the JSON of its record.

    msgspec reads no halves of characters: those, and what is no record, are left to `json`.

    Raises:
        KeyError, TypeError, ValueError: when the record is not one of this format.
    """
    try:
        _check_format(_head_of(record).format)
        return _sharing(_decode(record))
    except msgspec.DecodeError:
        return from_json(json.loads(record))


def from_json(record: Mapping[str, Any]) -> Result:
    """A result from its record.

    Raises:
        KeyError, TypeError, ValueError: when the record is not one of this format.
    """
    _check_format(record["format"])
    return _sharing(msgspec.convert(record, Result))


def _check_format(name: str) -> None:
    if name != RESULT_FORMAT:
        raise ValueError(f"the format is {name!r}, not {RESULT_FORMAT!r}")


def _sharing(result: Result) -> Result:
    """The same result; of checks that passed, and of texts, a class has one object where it may be."""
    for exercise in result.exercises:
        force_setattr(exercise, "checks", tuple(map(_shared, exercise.checks)))
    return result


def _shared(check: CheckResult) -> CheckResult:
    if check.outcome is Outcome.PASSED and (known := _PASSED.get(check)) is not None:
        return known
    for name in ("id", "title", "message"):
        force_setattr(check, name, sys.intern(getattr(check, name)))
    if check.outcome is Outcome.PASSED and len(_PASSED) < MOST_SHARED:
        _PASSED[check] = check
    return check


_PASSED: dict[CheckResult, CheckResult] = {}
MOST_SHARED = 20_000
"""Results of checks that passed are kept up to so many: in a class most are the same but for time."""
