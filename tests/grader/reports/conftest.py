"""The example class as results, made again from its golden records: enough for every report."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course, load_course
from grader.judging.scoring import nothing_handed_in
from grader.reports.base import CheckedWork, GradedClass

NOW = datetime(2027, 2, 1, 12, 30, 5, tzinfo=UTC)
SEED = "4815162342"


def remembered_check(id_: str, outcome: str, message: str) -> CheckResult:
    """A check as golden records tell it."""
    visibility = Visibility.HIDDEN if "::hidden::" in id_ else Visibility.VISIBLE
    words = id_.rpartition("::test_")[2].replace("_", " ")
    return CheckResult(id_, words, visibility, 1, Outcome(outcome), message, 0.25)


def remembered_exercise(id_: str, most: int, record: dict[str, Any]) -> ExerciseResult:
    """An exercise as golden records tell it."""
    told = dict(record["outcomes"])
    told.setdefault("others", "passed")
    message = "\n".join(record.get("message", []))
    checks = [
        remembered_check(
            f"{id_}::{name if '::' in name else 'visible::test_others'}",
            outcome,
            message if outcome not in ("passed", "blocked") else "",
        )
        for name, outcome in told.items()
    ]
    names = [one_of.split(" or ") for one_of in record.get("misconceptions", [])]
    findings = tuple(
        Finding(tuple(Mistake(name, f"It is {name}.", f"Why {name}?") for name in one_of))
        for one_of in names
    )
    score = Decimal(str(record["score"]))
    return ExerciseResult(id_, score, most, checks=tuple(checks), findings=findings)


def remembered_assignment(assignment: Assignment, record: dict[str, Any]) -> AssignmentResult:
    """An assignment as golden records tell it."""
    if not record["exercises"]:
        return nothing_handed_in(assignment)
    exercises = tuple(
        remembered_exercise(e.id, e.points, record["exercises"][e.name])
        for e in assignment.exercises
    )
    score = sum((e.score for e in exercises if e.score is not None), Decimal(0))
    notes = tuple(record["notes"])
    return AssignmentResult(
        assignment.id,
        record["read_from"],
        score,
        assignment.max_score,
        exercises=exercises,
        notes=notes,
    )


def remembered(course: Course, record: dict[str, Any]) -> Result:
    """A student as golden records tell of them."""
    told = record["assignments"]
    assignments = tuple(remembered_assignment(course.by_id[id_], told[id_]) for id_ in told)
    submitted = record["submitted"]
    scores = [a.score for a in assignments if a.score is not None]
    return Result(
        student=record["student"],
        score=sum(scores, Decimal(0)) if submitted else None,
        max_score=sum(assignment.max_score for assignment in assignments) or 113,
        undecided=False,
        submitted=submitted,
        isolation=("sealed",),
        seed=SEED,
        versions={},
        course_hash="",
        submission_hash="",
        assignments=assignments,
    )


@pytest.fixture(scope="session")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="session")
def example_class(course: Course, root: Path) -> dict[str, Result]:
    """The results of the example class by student."""
    records = sorted((root / "tests" / "example_class" / "golden").glob("*.json"))
    return {path.stem: remembered(course, json.loads(path.read_text("utf-8"))) for path in records}


@pytest.fixture
def class_run(course: Course, example_class: dict[str, Result]) -> GradedClass:
    """The example class after grading."""
    return GradedClass(course, list(example_class.values()), {}, NOW)


@pytest.fixture
def check_run(course: Course, example_class: dict[str, Result]) -> CheckedWork:
    """A student's own run, outside of any platform."""
    return CheckedWork(course, example_class["partly_done"], "assignments", {}, NOW)
