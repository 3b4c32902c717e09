"""`scores.csv`: one row per student, a column per exercise."""

from collections.abc import Iterable

from grader.core.files import OutputFile
from grader.core.records import Result
from grader.course.course import Course
from grader.grading import class_files
from grader.reports.base import Checked, CheckedWork

FILE = "scores.csv"


def check(run: CheckedWork) -> Checked:
    """The file `scores.csv` with the one row."""
    return Checked((OutputFile(FILE, scores_csv(run.course, [run.result])),))


def scores_csv(course: Course, results: Iterable[Result]) -> str:
    """One row per student: blank for no submission, `undecided` where the grader failed."""
    return class_files.scores_csv(course, [class_files.row_of(result, "") for result in results])
