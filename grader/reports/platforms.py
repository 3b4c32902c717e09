"""What single platforms read: Classroom 50's `result.json`, and Gradescope's `results.json`.

Both have one test per exercise with the diagnosis beside it. A test with visibility `hidden` would hide
the total from Gradescope's students, so none is. What hidden checks used and expected is in no text at all.
"""

import json
from datetime import UTC
from typing import Any

from grader.core.language import N_, _, paragraph
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.judging.outcomes import details, status_words
from grader.judging.results import points
from grader.reports.base import (
    CheckedWork,
    score_line,
    whole_exercises,
    whole_points,
    whole_score,
)

CLASSROOM50 = "classroom50/result/v1"
MAX_MESSAGE = 4_000
NOTHING_TO_READ = N_(
    "There is no .py and no .ipynb in what was handed in that the grader could read. "
    "Hand in the files of your assignments folder, or that folder as a zip."
)


def classroom50(run: CheckedWork) -> str | None:
    """A result as Classroom 50 reads it, in integers; None where there is no score.

    A missing file is an infrastructure error there, as an undecided score is.
    """
    result = run.result
    score = whole_score(result)
    if score is None:
        return None
    tests = [
        _test(exercise, whole_exercises(assignment)[exercise.id], assignment)
        for assignment in result.assignments
        for exercise in assignment.counting
    ]
    record = {
        "schema": CLASSROOM50,
        **_submission(run),
        "score": score,
        "max-score": sum(whole_points(exercise.max_score) for exercise in result.exercises),
        "tests": tests,
    }
    return _json(record)


def _submission(run: CheckedWork) -> dict[str, Any]:
    """What was graded, from the runner's environment; plain words where there is no runner."""
    environment = run.environment
    tag = environment.get("SUBMISSION_TAG") or "submit/local"
    kind = environment.get("ASSIGNMENT_TYPE")
    commit = environment.get("COMMIT_URL") or environment.get("GITHUB_SHA") or "local"
    return {
        "classroom": environment.get("CLASSROOM") or "local",
        "assignment": environment.get("ASSIGNMENT") or run.course.title,
        "assignment_type": kind if kind in ("individual", "group") else "individual",
        "owner": environment.get("OWNER") or environment.get("USERNAME") or run.result.student,
        "submission": tag if tag.startswith("submit/") else f"submit/{tag}",
        "commit": commit,
        "release": environment.get("RELEASE_URL") or "local",
        "review": environment.get("REVIEW_URL") or commit,
        "datetime": run.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
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


def gradescope(result: Result, *, preface: str = "") -> str | None:
    """A result as Gradescope reads it; None where there is no score.

    Without the file Gradescope says that the autograder failed and gives no score, which is what
    an undecided score means.
    """
    if result.undecided or result.score is None:
        return None
    tests = [
        _gradescope_test(f"{number}.{inner}", exercise)
        for number, assignment in enumerate(result.assignments, 1)
        for inner, exercise in enumerate(assignment.exercises, 1)
        if exercise.counts
    ]
    notes = [f"{a.id}: {paragraph(a.notes)}" for a in result.assignments if a.notes]
    head = "\n".join(filter(None, [preface, score_line(result), *notes]))
    seconds = sum(check.duration_s for check in result.checks)
    return _record(points(result.score) or 0, head, tests, seconds)


def nothing_to_read(preface: str = "") -> str:
    """The record of a submission with nothing to grade: Gradescope has no word for that."""
    return _record(0, "\n\n".join(filter(None, [preface, _(NOTHING_TO_READ)])), [], 0.0)


def _record(score: float, output: str, tests: list[dict[str, Any]], seconds: float) -> str:
    record = {
        "score": score,
        "execution_time": round(seconds, 3),
        "output": output,
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    return _json(record)


def _gradescope_test(number: str, exercise: ExerciseResult) -> dict[str, Any]:
    return {
        "number": number,
        "name": exercise.id,
        "score": points(exercise.score),
        "max_score": exercise.max_score,
        "status": "passed" if exercise.is_solved else "failed",
        "output": details(exercise) or status_words(exercise),
        "output_format": "text",
        "tags": list(exercise.misconceptions),
        "visibility": "visible",
        "extra_data": {"outcome": status_words(exercise, say=str)},
    }


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
