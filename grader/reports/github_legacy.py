"""GitHub Classroom's grading reporter: base64 of JSON, in a step's output `result`.

The reporter adds up scores in one place and counts passed entries in another. The two agree only
when all entries weigh the same and each is passed or not, so every point is an entry of its own.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

from grader.core.files import OutputFile, file_name
from grader.core.language import _
from grader.core.records import ExerciseResult, Result
from grader.judging.outcomes import details, status_words
from grader.judging.results import for_student
from grader.reports.base import (
    UNDECIDED,
    Checked,
    CheckedWork,
    GradedClass,
    whole_exercises,
    whole_points,
    whole_score,
)

OUTPUT = "GITHUB_OUTPUT"
MAX_FEEDBACK = 1_200
MAX_TOTAL_FEEDBACK = 40_000


def check(run: CheckedWork) -> Checked:
    """The step's output `result`, or a line with it outside of a step."""
    line = f"result={encoded(run.result)}"
    path = run.environment.get(OUTPUT)
    return (
        Checked((OutputFile(path, f"{line}\n", append=True),)) if path else Checked(lines=(line,))
    )


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """A file per student with the value of `result`."""
    for result in run.results:
        text = None if not result.submitted else encoded(for_student(result))
        yield OutputFile(f"{file_name(result.student)}.txt", text)


def encoded(result: Result) -> str:
    """A result as the reporter reads it from the environment."""
    return base64.b64encode(json.dumps(legacy(result)).encode()).decode()


def legacy(result: Result) -> dict[str, Any]:
    """The record inside; with a maximum of 0, which the reporter does not report, if undecided."""
    score = whole_score(result)
    if score is None:
        entry = _entry("The grader", "error", 0, _(UNDECIDED))
        return {"version": 1, "status": "error", "max_score": 0, "tests": [entry]}
    tests: list[dict[str, Any]] = []
    room = MAX_TOTAL_FEEDBACK
    for assignment in result.assignments:
        earned = whole_exercises(assignment)
        for exercise in assignment.exercises:
            feedback = "" if exercise.is_solved else details(exercise) or status_words(exercise)
            feedback = feedback[: min(MAX_FEEDBACK, room)]
            room -= len(feedback)
            tests += _points(exercise, earned.get(exercise.id, 0), feedback)
    status = "pass" if score == len(tests) else "fail"
    return {"version": 1, "status": status, "max_score": len(tests), "tests": tests}


def _points(exercise: ExerciseResult, earned: int, feedback: str) -> list[dict[str, Any]]:
    """One entry per point; the feedback is in the first that was not earned."""
    entries, most = [], whole_points(exercise.max_score)
    for number in range(1, most + 1):
        name = f"{exercise.id}, point {number} of {most}"
        status = "pass" if number <= earned else "fail"
        text = feedback if number == earned + 1 else ""
        entries.append(_entry(name, status, int(number <= earned), "", text))
    return entries


def _entry(name: str, status: str, score: int, message: str, feedback: str = "") -> dict[str, Any]:
    """An entry; a failure's feedback goes where the reporter shows it, into `test_code`."""
    return {
        "name": name,
        "status": status,
        "score": score,
        "message": message,
        "test_code": feedback,
        "filename": "",
        "line_no": 0,
        "duration": 0,
    }
