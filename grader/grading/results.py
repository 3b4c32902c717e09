"""Results as JSON: the instructor's record, and the student's copy of it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from grader.core.language import _
from grader.core.records import (
    RESULT_FORMAT,
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Number,
    Outcome,
    Result,
    Rows,
    Visibility,
)
from grader.submissions.nbgrader_defects import is_defect

NOT_FOUND = (Outcome.MISSING, Outcome.BLOCKED)
ORDER: dict[type, tuple[str, ...]] = {
    AssignmentResult: (
        *("id", "read_from", "score", "max_score", "days_late", "late_days_used", "time_source"),
        *("notes", "handed_in_by", "attempts", "ignored", "file_failures", "exercises"),
    ),
    ExerciseResult: (
        *("id", "score", "max_score", "decision", "defined", "judged_with", "to_judge_with"),
        *("may_come_from", "misconceptions", "findings", "checks"),
    ),
}
"""What a file has of these, in its order; of other records it has the fields in theirs."""

WHERE_ANY = (
    *("file_failures", "ignored", "defined", "decision"),
    *("judged_with", "to_judge_with", "may_come_from"),
    *("late_days_used", "time_source", "attempts", "handed_in_by"),
)
"""Those of them that a file has only where there is any."""

SPECIAL: dict[str, Any] = {
    "candidates": override(rename="one_of"),
    "is_partial": override(rename="partial", omit_if_default=True),
    "picture": override(omit_if_default=True),
    "where": override(omit_if_default=True),
    "unread": override(omit_if_default=True),
    **{name: override(omit_if_default=True) for name in ("decided", "automatic", "exempt")},
    "waits_for": override(omit_if_default=True),
    "raised": override(omit_if_default=True),
    "may_follow": override(omit_if_default=True),
    "is_conduct": override(rename="conduct", omit_if_default=True),
    "reason": override(omit=True),
    "broke_off": override(omit=True),
}


def points(score: Decimal | None) -> int | float | None:
    """A score as a JSON number: an integer where it is one."""
    if score is None:
        return None
    return int(score) if score == score.to_integral_value() else float(score)


def exact(score: int | float | None) -> Decimal | None:
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
        own = replace(check, message=message, picture=None, where=None, waits_for="", raised="")
        return replace(own, reason=(0, 0))

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


def to_json(result: Result) -> dict[str, Any]:
    """The record of a result."""
    return {"format": RESULT_FORMAT, **converter.unstructure(result)}


def from_json(record: Mapping[str, Any]) -> Result:
    """A result from its record.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: when the record is not one of this format.
    """
    if record["format"] != RESULT_FORMAT:
        raise ValueError(f"the format is {record['format']!r}, not {RESULT_FORMAT!r}")
    result: Result = converter.structure(_shared(record), Result)
    return result


def _shared(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same record; texts of its checks, which a class has a thousand times, are one object each."""
    for assignment in record["assignments"]:
        for exercise in assignment["exercises"]:
            for check in exercise["checks"]:
                check |= {name: sys.intern(check[name]) for name in ("id", "title", "message")}
    return record


def _writer(kind: type) -> Callable[[Any], dict[str, Any]]:
    if kind not in ORDER:
        return make_dict_unstructure_fn(kind, converter, **SPECIAL)
    return lambda record: {
        name: converter.unstructure(value)
        for name in ORDER[kind]
        if (value := getattr(record, name)) or name not in WHERE_ANY
    }


def _reader(kind: type) -> Callable[[Any, Any], Any]:
    structure: Callable[[Any, Any], Any] = make_dict_structure_fn(kind, converter, **SPECIAL)
    if kind is CheckResult:
        return partial(_read_check, structure)
    if kind not in ORDER:
        return structure
    names = ORDER[kind]
    return lambda entry, _: structure(
        {name: entry[name] for name in names if name in entry or name not in WHERE_ANY}, kind
    )


def _read_check(structure: Callable[[Any, Any], Any], entry: Mapping[str, Any], _: Any) -> Any:
    """A check's result; of one that passed the same object for everybody where it may be.

    Args:
        structure: makes one from its entry.
        entry: as it stands in a file.
    """
    if entry["outcome"] != Outcome.PASSED:
        return structure(entry, CheckResult)
    try:
        known = _PASSED.get(key := tuple(entry.items()))
    except TypeError:  # a list, which no check that passed has
        return structure(entry, CheckResult)
    if known is None:
        known = structure(entry, CheckResult)
        if len(_PASSED) < MOST_SHARED:
            _PASSED[key] = known
    return known


_PASSED: dict[tuple[tuple[str, Any], ...], CheckResult] = {}
MOST_SHARED = 20_000
"""Results of checks that passed are kept up to so many: in a class most are the same but for time."""


def _number(value: object, _: Any) -> float:
    if not isinstance(value, int | float):
        raise ValueError(f"a number is needed, not {value!r}")
    return value


def _decimal(value: object, _: Any) -> Decimal:
    if not isinstance(value, int | float):
        raise ValueError(f"a score is a number, not {value!r}")
    return _known_decimal(str(value))


@lru_cache(maxsize=10_000)
def _known_decimal(text: str) -> Decimal:
    """A score; a class has few different ones, many times each."""
    return Decimal(text)


converter = Converter(detailed_validation=False, unstruct_collection_overrides={tuple: list})
"""Turns records into what JSON can hold, and back."""

converter.register_unstructure_hook_factory(is_dataclass, _writer)
converter.register_structure_hook_factory(is_dataclass, _reader)
converter.register_unstructure_hook(Decimal, points)
converter.register_structure_hook(Decimal, _decimal)
converter.register_unstructure_hook_func(lambda kind: kind == Rows, lambda rows: rows)
converter.register_structure_hook_func(
    lambda kind: kind in (Rows, tuple[tuple[bool, ...], ...]),
    lambda rows, _: tuple(map(tuple, rows)),  # not number by number: there are a million
)
converter.register_structure_hook(float, _number)
for plain in (Number, int | float | None):
    converter.register_structure_hook(plain, lambda value, _: value)
