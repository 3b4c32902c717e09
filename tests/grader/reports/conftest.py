"""The example class as results, made again from its golden records: enough for every report."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import made_results as made
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


def remembered_check(id_: str, outcome: Outcome, message: str) -> CheckResult:
    """A check as golden records tell it."""
    visibility = Visibility.HIDDEN if "::hidden::" in id_ else Visibility.VISIBLE
    title = id_.rpartition("::test_")[2].replace("_", " ")
    told = "" if outcome in (Outcome.PASSED, Outcome.BLOCKED) else message
    more = {"title": title, "visibility": visibility, "duration_s": 0.25}
    return made.check(id_, outcome, told, **more)


def remembered_exercise(id_: str, most: int, record: dict[str, Any]) -> ExerciseResult:
    """An exercise as golden records tell it."""
    message = "\n".join(record.get("message", []))
    checks = [
        remembered_check(
            f"{id_}::{name if '::' in name else 'visible::test_others'}", Outcome(outcome), message
        )
        for name, outcome in ({"others": "passed"} | record["outcomes"]).items()
    ]
    findings = tuple(
        Finding(
            tuple(Mistake(name, f"It is {name}.", f"Why {name}?") for name in one_of.split(" or "))
        )
        for one_of in record.get("misconceptions", [])
    )
    return made.exercise(id_, record["score"], most, *checks, findings=findings)


def remembered_assignment(assignment: Assignment, record: dict[str, Any]) -> AssignmentResult:
    """An assignment as golden records tell it."""
    if not record["exercises"]:
        return nothing_handed_in(assignment)
    exercises = (
        remembered_exercise(e.id, e.points, record["exercises"][e.name])
        for e in assignment.exercises
    )
    more = {"read_from": record["read_from"], "notes": tuple(record["notes"])}
    return made.assignment(assignment.id, *exercises, **more)


def remembered(course: Course, record: dict[str, Any]) -> Result:
    """A student as golden records tell of them."""
    told = record["assignments"]
    assignments = (remembered_assignment(course.by_id[id_], told[id_]) for id_ in told)
    if record["submitted"]:
        return made.result(record["student"], *assignments)
    nothing = {"score": None, "submitted": False, "max_score": 113}
    return made.result(record["student"], *assignments, **nothing)


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
