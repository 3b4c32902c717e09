"""Classroom 50's `result.json`: integers, one test per exercise, the diagnosis beside each."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from grader.core.files import OutputFile, file_name
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.course.course import Course
from grader.judging.outcomes import details, status_words
from grader.judging.results import for_student
from grader.reports.base import (
    Checked,
    CheckedWork,
    GradedClass,
    whole_exercises,
    whole_points,
    whole_score,
)

FILE = "result.json"
SCHEMA = "classroom50/result/v1"
MAX_MESSAGE = 4_000


def check(run: CheckedWork) -> Checked:
    """The file `result.json`; none, and no old one, where the score is undecided."""
    return Checked(
        (OutputFile(FILE, classroom50(run.course, run.result, run.environment, run.now)),)
    )


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """A file per student with a score."""
    for result in run.results:
        owner = {"OWNER": result.student, **run.environment}
        text = classroom50(run.course, for_student(result), owner, run.now)
        yield OutputFile(f"{file_name(result.student)}.json", text)


def classroom50(
    course: Course, result: Result, environment: Mapping[str, str], now: datetime
) -> str | None:
    """A result as Classroom 50 reads it; None where there is no score.

    A missing file is an infrastructure error there, as an undecided score is.

    Args:
        course: what was graded.
        result: fit to be shown to the student.
        environment: the runner's variables, which name classroom, owner and submission.
        now: when it was graded, with its zone.
    """
    score = whole_score(result)
    if score is None:
        return None
    tests = [
        _test(exercise, whole_exercises(assignment)[exercise.id], assignment)
        for assignment in result.assignments
        for exercise in assignment.counting
    ]
    record = {
        "schema": SCHEMA,
        **_submission(course, result, environment, now),
        "score": score,
        "max-score": sum(whole_points(exercise.max_score) for exercise in result.exercises),
        "tests": tests,
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _submission(
    course: Course, result: Result, environment: Mapping[str, str], now: datetime
) -> dict[str, Any]:
    """What was graded, from the runner's environment; plain words where there is no runner."""
    tag = environment.get("SUBMISSION_TAG") or "submit/local"
    kind = environment.get("ASSIGNMENT_TYPE")
    commit = environment.get("COMMIT_URL") or environment.get("GITHUB_SHA") or "local"
    return {
        "classroom": environment.get("CLASSROOM") or "local",
        "assignment": environment.get("ASSIGNMENT") or course.title,
        "assignment_type": kind if kind in ("individual", "group") else "individual",
        "owner": environment.get("OWNER") or environment.get("USERNAME") or result.student,
        "submission": tag if tag.startswith("submit/") else f"submit/{tag}",
        "commit": commit,
        "release": environment.get("RELEASE_URL") or "local",
        "review": environment.get("REVIEW_URL") or commit,
        "datetime": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _test(exercise: ExerciseResult, score: int, assignment: AssignmentResult) -> dict[str, Any]:
    return {
        "test-name": exercise.id,
        "passed": exercise.is_solved,
        "score": score,
        "max-score": whole_points(exercise.max_score),
        "outcome": status_words(exercise),
        "misconceptions": list(exercise.misconceptions),
        "message": details(exercise)[:MAX_MESSAGE],
        "notes": list(assignment.notes),
    }
