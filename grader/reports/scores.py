"""`scores.csv`: one row per student, a column per exercise."""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from grader.course import Course
from grader.model import Result
from grader.reports.base import Checked, CheckRun, File
from grader.results import points

FILE = "scores.csv"
UNDECIDED = "undecided"


def check(run: CheckRun) -> Checked:
    """The file `scores.csv` with the one row."""
    return Checked((File(FILE, scores_csv(run.course, [run.result])),))


def scores_csv(course: Course, results: Iterable[Result]) -> str:
    """One row per student: blank for no submission, `undecided` where the grader failed."""
    ids = list(course.exercises)
    rows: list[Sequence[object]] = [["student", "score", "max_score", *ids]]
    for result in results:
        exercises = {e.id: e for a in result.assignments for e in a.exercises}
        cells = [_cell(result, exercises[i].score if i in exercises else None) for i in ids]
        rows.append([safe(result.student), _cell(result, result.score), result.max_score, *cells])
    return table(rows)


def _cell(result: Result, score: Decimal | None) -> object:
    if score is not None:
        return points(score)
    return UNDECIDED if result.submitted else ""


def safe(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
