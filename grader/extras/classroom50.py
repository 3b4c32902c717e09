"""What Classroom 50 reads: JSON with one test per exercise, and the diagnosis beside it.

What hidden checks used and expected is in no text at all.
"""

from datetime import UTC
from typing import Any

from grader.core.records import AssignmentResult, ExerciseResult
from grader.judging.outcomes import details, status_words
from grader.reports.base import (
    CheckedWork,
    json_text,
    one_file,
    whole_exercises,
    whole_points,
    whole_score,
)

SCHEMA = "classroom50/result/v1"
MAX_MESSAGE = 4_000


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
        "schema": SCHEMA,
        **_submission(run),
        "score": score,
        "max-score": sum(whole_points(exercise.max_score) for exercise in result.exercises),
        "tests": tests,
    }
    return json_text(record)


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


report = one_file("result.json", classroom50)
