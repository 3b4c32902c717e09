"""Results as JSON: the instructor's record, and the student's copy of it."""

from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from grader.core.language import _
from grader.core.records import (
    RESULT_FORMAT,
    AssignmentResult,
    Axis,
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

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")
NOT_FOUND = (Outcome.MISSING, Outcome.BLOCKED)
ASSIGNMENT = ("id", "read_from", "score", "max_score", "days_late", "notes", "exercises")
EXERCISE = ("id", "score", "max_score", "misconceptions", "findings", "checks")
"""What the file has of an assignment and of an exercise, in its order."""


def points(score: Decimal | None) -> int | float | None:
    """A score as a JSON number: an integer where it is one."""
    if score is None:
        return None
    return int(score) if score == score.to_integral_value() else float(score)


def is_handed_in(result: Result, assignment: AssignmentResult) -> bool:
    """Whether a file was handed in for an assignment.

    One file may be handed in for several: it counts for those of which it defines anything, and
    for all where it defines nothing at all.
    """
    if not assignment.read_from or has_something(assignment):
        return bool(assignment.read_from)
    others = (a for a in result.assignments if a.read_from == assignment.read_from)
    return not any(has_something(other) for other in others)


def has_something(assignment: AssignmentResult) -> bool:
    """Whether anything that an assignment asks for was found in what was handed in."""
    return any(check.outcome not in NOT_FOUND for check in assignment.checks)


def to_json(result: Result) -> dict[str, Any]:
    """The record of a result."""
    return {
        "format": RESULT_FORMAT,
        **fields_of(result),
        "score": points(result.score),
        "isolation": list(result.isolation),
        "assignments": [_assignment(assignment) for assignment in result.assignments],
    }


def _assignment(result: AssignmentResult) -> dict[str, Any]:
    return {
        **{name: getattr(result, name) for name in ASSIGNMENT},
        "score": points(result.score),
        "notes": list(result.notes),
        "exercises": [exercise_record(exercise) for exercise in result.exercises],
    }


def exercise_record(result: ExerciseResult) -> dict[str, Any]:
    """The part of a record that is about one exercise."""
    return {
        **{name: getattr(result, name) for name in EXERCISE},
        "score": points(result.score),
        "misconceptions": list(result.misconceptions),
        "findings": [{"one_of": list(map(fields_of, f.candidates))} for f in result.findings],
        "checks": [_check(check) for check in result.checks],
    }


def _check(result: CheckResult) -> dict[str, Any]:
    record = fields_of(result)
    record |= {"visibility": str(result.visibility), "outcome": str(result.outcome)}
    picture, where = record.pop("picture"), record.pop("where")
    if picture is not None:
        axes = {"rows": fields_of(picture.rows), "columns": fields_of(picture.columns)}
        record["picture"] = {**fields_of(picture), **axes}
    if where is not None:
        record["where"] = fields_of(where)
    return record


def fields_of(instance: "DataclassInstance") -> dict[str, Any]:
    """A data class's fields by name; their values are not copied."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def for_student(result: Result) -> Result:
    """The same result without the run's seed and without what hidden checks say and show."""
    return replace(
        result,
        seed="",
        assignments=tuple(
            replace(assignment, exercises=tuple(_without_secrets(e) for e in assignment.exercises))
            for assignment in result.assignments
        ),
    )


def _without_secrets(exercise: ExerciseResult) -> ExerciseResult:
    return replace(exercise, checks=tuple(_public(check) for check in exercise.checks))


def _public(check: CheckResult) -> CheckResult:
    if check.visibility is Visibility.VISIBLE or check.outcome is Outcome.PASSED:
        return check
    message = _("This is a hidden check: its inputs are not shown.")
    return replace(check, message=message, picture=None, where=None)


def from_json(record: Mapping[str, Any]) -> Result:
    """A result from its record.

    Raises:
        KeyError, TypeError, ValueError: when the record is not one of this format.
    """
    if record["format"] != RESULT_FORMAT:
        raise ValueError(f"the format is {record['format']!r}, not {RESULT_FORMAT!r}")
    assignments = tuple(_assignment_from(entry) for entry in record["assignments"])
    return read(Result, record, score=_decimal(record["score"]), assignments=assignments)


def read(kind: type[Record], entry: Mapping[str, Any], **known: Any) -> Record:
    """A data class from its record; lists become tuples, and keys of other kinds are left out.

    Args:
        kind: the data class.
        entry: the record.
        **known: fields that were read already.

    Raises:
        KeyError: when a field is missing.
    """
    missing = (field.name for field in fields(kind) if field.name not in known)
    return kind(**{name: _frozen(entry[name]) for name in missing}, **known)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _decimal(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise ValueError(f"a score is a number, not {value!r}")
    return Decimal(str(value))


def _assignment_from(entry: Mapping[str, Any]) -> AssignmentResult:
    exercises = tuple(exercise_from(exercise) for exercise in entry["exercises"])
    known = {"score": _decimal(entry["score"]), "exercises": exercises, "defects": ()}
    return read(AssignmentResult, entry, **known)


def exercise_from(entry: Mapping[str, Any]) -> ExerciseResult:
    """An exercise's result from its part of a record.

    Raises:
        KeyError, TypeError, ValueError: when it is none.
    """
    return read(
        ExerciseResult,
        entry,
        score=_decimal(entry["score"]),
        findings=tuple(
            Finding(tuple(Mistake(**mistake) for mistake in finding["one_of"]))
            for finding in entry["findings"]
        ),
        checks=tuple(_check_from(check) for check in entry["checks"]),
    )


def _check_from(entry: Mapping[str, Any]) -> CheckResult:
    return read(
        CheckResult,
        entry,
        visibility=Visibility(entry["visibility"]),
        outcome=Outcome(entry["outcome"]),
        picture=_picture_from(entry["picture"]) if "picture" in entry else None,
        where=CodeLocation(**entry["where"]) if "where" in entry else None,
    )


def _picture_from(entry: Mapping[str, Any]) -> Picture:
    rows, columns = (read(Axis, entry[side]) for side in ("rows", "columns"))
    return read(Picture, entry, rows=rows, columns=columns)
