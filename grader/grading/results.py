"""Results as JSON: the instructor's record, and the student's copy of it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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


def points(score: Decimal | None) -> int | float | None:
    """A score as a JSON number: an integer where it is one."""
    if score is None:
        return None
    return int(score) if score == score.to_integral_value() else float(score)


NOT_FOUND = (Outcome.MISSING, Outcome.BLOCKED)


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
        "student": result.student,
        "score": points(result.score),
        "max_score": result.max_score,
        "undecided": result.undecided,
        "submitted": result.submitted,
        "isolation": list(result.isolation),
        "seed": result.seed,
        "versions": dict(result.versions),
        "course_hash": result.course_hash,
        "submission_hash": result.submission_hash,
        "assignments": [_assignment(assignment) for assignment in result.assignments],
    }


def _assignment(result: AssignmentResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "read_from": result.read_from,
        "score": points(result.score),
        "max_score": result.max_score,
        "days_late": result.days_late,
        "notes": list(result.notes),
        "exercises": [exercise_record(exercise) for exercise in result.exercises],
    }


def exercise_record(result: ExerciseResult) -> dict[str, Any]:
    """The part of a record that tells of one exercise."""
    return {
        "id": result.id,
        "score": points(result.score),
        "max_score": result.max_score,
        "misconceptions": list(result.misconceptions),
        "findings": [
            {"one_of": [fields_of(mistake) for mistake in finding.candidates]}
            for finding in result.findings
        ],
        "checks": [_check(check) for check in result.checks],
    }


def _check(result: CheckResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "title": result.title,
        "visibility": str(result.visibility),
        "weight": result.weight,
        "outcome": str(result.outcome),
        "message": result.message,
        "duration_s": result.duration_s,
        **({} if result.picture is None else {"picture": _picture(result.picture)}),
        **({} if result.where is None else {"where": fields_of(result.where)}),
    }


def _picture(picture: Picture) -> dict[str, Any]:
    axes = {"rows": fields_of(picture.rows), "columns": fields_of(picture.columns)}
    return {**fields_of(picture), **axes}


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
        KeyError, ValueError: when the record is not one of this format.
    """
    if record["format"] != RESULT_FORMAT:
        raise ValueError(f"the format is {record['format']!r}, not {RESULT_FORMAT!r}")
    return Result(
        student=record["student"],
        score=_decimal(record["score"]),
        max_score=record["max_score"],
        undecided=record["undecided"],
        submitted=record["submitted"],
        isolation=tuple(record["isolation"]),
        seed=record["seed"],
        versions=dict(record["versions"]),
        course_hash=record["course_hash"],
        submission_hash=record["submission_hash"],
        assignments=tuple(_assignment_from(entry) for entry in record["assignments"]),
    )


def _decimal(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise ValueError(f"a score is a number, not {value!r}")
    return Decimal(str(value))


def _assignment_from(entry: Mapping[str, Any]) -> AssignmentResult:
    return AssignmentResult(
        id=entry["id"],
        read_from=entry["read_from"],
        score=_decimal(entry["score"]),
        max_score=entry["max_score"],
        days_late=entry["days_late"],
        notes=tuple(entry["notes"]),
        exercises=tuple(exercise_from(exercise) for exercise in entry["exercises"]),
    )


def exercise_from(entry: Mapping[str, Any]) -> ExerciseResult:
    """An exercise's result from its part of a record.

    Raises:
        KeyError, TypeError, ValueError: when it is none.
    """
    return ExerciseResult(
        id=entry["id"],
        score=_decimal(entry["score"]),
        max_score=entry["max_score"],
        findings=tuple(
            Finding(tuple(Mistake(**mistake) for mistake in finding["one_of"]))
            for finding in entry["findings"]
        ),
        checks=tuple(_check_from(check) for check in entry["checks"]),
    )


def _check_from(entry: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        id=entry["id"],
        title=entry["title"],
        visibility=Visibility(entry["visibility"]),
        weight=entry["weight"],
        outcome=Outcome(entry["outcome"]),
        message=entry["message"],
        duration_s=entry["duration_s"],
        picture=_picture_from(entry["picture"]) if "picture" in entry else None,
        where=CodeLocation(**entry["where"]) if "where" in entry else None,
    )


def _picture_from(entry: Mapping[str, Any]) -> Picture:
    return Picture(
        what=entry["what"],
        expected=_rows(entry["expected"]),
        received=_rows(entry["received"]),
        differs=_rows(entry["differs"]),
        first=(entry["first"][0], entry["first"][1]),
        rows=_axis(entry["rows"]),
        columns=_axis(entry["columns"]),
        slice=tuple((name, position) for name, position in entry["slice"]),
        source=entry["source"],
        lines=(entry["lines"][0], entry["lines"][1]),
    )


def _rows(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _axis(entry: Mapping[str, Any]) -> Axis:
    return Axis(entry["name"], entry["start"], entry["size"], tuple(entry["labels"]))
