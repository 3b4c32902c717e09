"""What Gradescope reads: JSON with one test per exercise, and the diagnosis beside it.

A test with visibility `hidden` would hide the total from students, so none is. What hidden checks used and
expected is in no text at all.
"""

from typing import Any

from grader.core.language import N_, _, paragraph
from grader.core.records import ExerciseResult, Result
from grader.judging.outcomes import details, status_words
from grader.judging.results import points
from grader.reports.base import json_text, one_file, score_line

NOTHING_TO_READ = N_(
    "There is no .py and no .ipynb in what was handed in that the grader could read. "
    "Hand in the files of your assignments folder, or that folder as a zip."
)


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
    return json_text(record)


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


report = one_file("results.json", lambda run: gradescope(run.result))
