"""What single platforms read: Classroom 50 and Gradescope as JSON, Canvas and Moodle as tables.

The JSON has one test per exercise with the diagnosis beside it. A test with visibility `hidden`
would hide the total from Gradescope's students, so none is. What hidden checks used and expected is
in no text at all.

A grade in a table is blank where nothing was handed in for an assignment, where it does not count
for the student (in Canvas "EX"), and where the score is undecided. A blank changes no grade; a zero
would.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Any

from grader.classes import rows
from grader.classes.rows import row_of
from grader.core.files import OutputFile, table
from grader.core.language import N_, _, paragraph
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.course.course import Assignment, Course
from grader.intake.roster import Enrolled
from grader.judging.outcomes import details, status_words
from grader.judging.results import points
from grader.reports.base import (
    CheckedWork,
    GradedClass,
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


CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"
"""Canvas's own word for an assignment that does not count for a student."""

MOODLE = ("Username", "Full name", "Email address")
WORKSHEET = (
    *("Identifier", "Full name", "Email address", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (grade)"),
)


def scores_csv(course: Course, results: Iterable[Result]) -> str:
    """A row per student, a column per exercise, as `grader grade` writes it."""
    return rows.scores_csv(course, [row_of(result, "") for result in results])


def canvas(run: GradedClass) -> Iterator[OutputFile]:
    """`gradebook.csv`, to be imported in Canvas's gradebook."""
    blank = [""] * (len(CANVAS) - 1)
    rows: list[list[object]] = [
        [*CANVAS, *(assignment.title for assignment in run.course.assignments)],
        ["    Points Possible", *blank, *map(_possible, run.course.assignments)],
    ]
    for result in run.results:
        one = _enrolled(run, result)
        login = one.login or ("" if one.number else result.student)
        who = [one.name or result.student, one.number, one.sis_number, login, one.section]
        exempt = {a.id for a in result.assignments if a.is_exempt}
        grades = zip(run.course.assignments, _grades(run, result), strict=True)
        rows.append([*who, *(EXCUSED if a.id in exempt else grade for a, grade in grades)])
    yield OutputFile("gradebook.csv", table(rows))


def moodle(run: GradedClass) -> Iterator[OutputFile]:
    """`grades.csv` for Moodle's grade import, and a grading worksheet per assignment.

    The worksheets are for those whom a worksheet of Moodle's, given as roster, listed.
    """
    titles = [assignment.title for assignment in run.course.assignments]
    rows: list[list[object]] = [[*MOODLE, *titles]]
    for result in run.results:
        one = _enrolled(run, result)
        who = [one.login or result.student, one.name, one.email]
        rows.append([*who, *_grades(run, result)])
    yield OutputFile("grades.csv", table(rows))
    listed = [r for r in run.results if _enrolled(run, r).identifier]
    for assignment in run.course.assignments if listed else ():
        yield OutputFile(f"worksheet_{assignment.id}.csv", _worksheet(run, assignment, listed))


def _worksheet(run: GradedClass, assignment: Assignment, results: list[Result]) -> str:
    rows: list[list[object]] = [list(WORKSHEET)]
    for result in results:
        one = _enrolled(run, result)
        who = [one.identifier, one.name, one.email]
        rows.append([*who, _grade(result, assignment), assignment.max_score, "Yes", "-"])
    return table(rows)


def _possible(assignment: Assignment) -> float:
    """What Canvas counts as possible: 0 for points that are extra."""
    return 0 if assignment.optional else assignment.max_score


def _enrolled(run: GradedClass, result: Result) -> Enrolled:
    return run.roster.get(result.student, Enrolled(result.student))


def _grades(run: GradedClass, result: Result) -> list[object]:
    return [_grade(result, assignment) for assignment in run.course.assignments]


def _grade(result: Result, assignment: Assignment) -> object:
    graded = next((found for found in result.assignments if found.id == assignment.id), None)
    if graded is None or graded.is_missing or graded.is_exempt:
        return ""
    is_undecided = result.undecided and any(exercise.undecided for exercise in graded.exercises)
    return "" if is_undecided or graded.score is None else points(graded.score)
