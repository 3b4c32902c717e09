"""Results as JSON: the instructor's record, and the student's copy of it."""

import json
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from operator import is_
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
    Points,
    Result,
    Visibility,
)
from grader.submissions.notebooks import is_defect

NOT_FOUND = (Outcome.MISSING, Outcome.BLOCKED)


def points(score: Decimal | None) -> Points | None:
    """A score as a JSON number: an integer where it is one."""
    if score is None:
        return None
    return int(score) if score == score.to_integral_value() else float(score)


def exact(score: Points | None) -> Decimal | None:
    """A score that was a JSON number, as it was before."""
    return None if score is None else Decimal(str(score))


def has_something(assignment: AssignmentResult) -> bool:
    """Whether anything that an assignment asks for was found in what was handed in."""
    return any(c.outcome not in NOT_FOUND for e in assignment.exercises for c in e.checks)


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

    def exercise(one: ExerciseResult) -> ExerciseResult:
        checks = tuple(map(public, one.checks))
        is_same = all(map(is_, checks, one.checks))
        return one if is_same else replace(one, checks=checks)

    def assignment(part: AssignmentResult) -> AssignmentResult:
        exercises = tuple(map(exercise, part.exercises))
        notes = tuple(note for note in part.notes if not is_defect(note))
        if len(notes) == len(part.notes) and all(map(is_, exercises, part.exercises)):
            return part
        return replace(part, exercises=exercises, notes=notes)

    return replace(result, seed="", assignments=tuple(map(assignment, result.assignments)))


# Writing.

IN_NO_FILE: dict[type, dict[str, Any]] = {
    CheckResult: {"reason": None, "broke_off": False, "blocked_by": ""},
    ExerciseResult: {"uses": ()},
    AssignmentResult: {"defects": (), "submitted_at": None},
}
"""Fields that are known only where work was just read or run, with the defaults that files leave out."""

_encode = msgspec.json.Encoder(decimal_format="number").encode
json_text = json.JSONEncoder(ensure_ascii=False, default=points).encode


def record_texts(result: Result) -> tuple[bytes, bytes]:
    """The instructor's record of a result, and the student's copy, as JSON in lines, in UTF-8.

    There is a line for each assignment, exercise and check, indented.
    """
    copy, texts = for_student(result), dict[int, bytes]()
    return _record_text(result, texts), _record_text(copy, texts)


def _record_text(result: Result, texts: dict[int, bytes]) -> bytes:
    """A record.

    Args:
        result: what it is of.
        texts: those of assignments and exercises that were written already, by the identity of these.
    """

    def exercise(one: ExerciseResult) -> bytes:
        if id(one) not in texts:
            texts[id(one)] = _exercise_text(exercise_in_file(one))
        return texts[id(one)]

    def assignment(part: AssignmentResult) -> bytes:
        if id(part) not in texts:
            head = _json(assignment_in_file(replace(part, exercises=())))
            texts[id(part)] = _filled(head, b"exercises", b"  ", map(exercise, part.exercises))
        return texts[id(part)]

    score, automatic = _shortest(result.score), _shortest(result.automatic)
    head = _json(replace(result, score=score, automatic=automatic, assignments=()))
    return _filled(head, b"assignments", b" ", map(assignment, result.assignments)) + b"\n"


def _exercise_text(one: ExerciseResult) -> bytes:
    if not one.checks:
        return _json(one)
    head, key, checks = _json(one).rpartition(b'"checks": [')
    return b"".join((head, key, b"\n   ", checks.replace(b'}, {"id": "', b'},\n   {"id": "')))


def _filled(text: bytes, key: bytes, indent: bytes, lines: Iterable[bytes]) -> bytes:
    """An object with an empty list under a key, and lines in that list."""
    inner, (start, empty, end) = (b",\n" + indent).join(lines), text.partition(b'"%b": []' % key)
    return b'%b"%b": [\n%b%b]%b' % (start, key, indent, inner, end) if inner and empty else text


def _json(record: object) -> bytes:
    """A record in a line; halves of characters, which msgspec refuses, are escaped."""
    try:
        return msgspec.json.format(_encode(record), indent=0)
    except UnicodeEncodeError:
        return json_text(_plain(record)).encode("utf-8", "backslashreplace")


def to_json(result: Result) -> dict[str, Any]:
    """The record of a result."""
    record: dict[str, Any] = json.loads(_record_text(result, {}))
    return record


def as_json(record: object) -> Any:
    """What JSON says of records."""
    return json.loads(json_text(_plain(record)))


def exercise_in_file(exercise: ExerciseResult) -> ExerciseResult:
    """What a file says of an exercise: nothing of how its checks were just run."""
    decision, score = exercise.decision, _shortest(exercise.score)
    if decision is not None:
        decision = replace(decision, automatic=_shortest(decision.automatic))
    checks = exercise.checks
    if any(check.reason or check.broke_off or check.blocked_by for check in checks):
        checks = tuple(replace(check, **IN_NO_FILE[CheckResult]) for check in checks)
    if checks is exercise.checks and decision is None and not exercise.uses:
        return exercise if score is exercise.score else replace(exercise, score=score)
    return replace(
        exercise, score=score, decision=decision, checks=checks, **IN_NO_FILE[ExerciseResult]
    )


def assignment_in_file(assignment: AssignmentResult) -> AssignmentResult:
    """What a file says of an assignment besides its exercises: nothing of how it was just read."""

    def attempt(one: AttemptScore) -> AttemptScore:
        exercises = {id_: _shortest(score) for id_, score in one.exercises.items()}
        return replace(one, score=_shortest(one.score), exercises=exercises)

    return replace(
        assignment,
        score=_shortest(assignment.score),
        attempts=tuple(map(attempt, assignment.attempts)),
        **IN_NO_FILE[AssignmentResult],
    )


def _plain(record: object) -> Any:
    """Dictionaries and lists of a record, its scores as they are."""
    return msgspec.to_builtins(record, builtin_types=(Decimal,))


@lru_cache(maxsize=10_000)
def _shortest(score: Decimal | None) -> Decimal | None:
    """The same score with as few digits as a JSON number has."""
    return exact(points(score))


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
