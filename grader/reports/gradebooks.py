"""Grades as Canvas and Moodle import them: one row per student, one column per assignment.

Blank stands where there is nothing to say: nothing handed in for an assignment, or an undecided
score. A blank changes no grade; a zero would.
"""

from collections.abc import Iterator

from grader.core.files import OutputFile, safe, table
from grader.core.records import AssignmentResult, Result
from grader.course.course import Assignment
from grader.grading.results import is_handed_in, points
from grader.reports.base import GradedClass
from grader.submissions.roster import Enrolled

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Username", "Full name", "Email address")
WORKSHEET = (
    *("Identifier", "Full name", "Email address", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (grade)"),
)


def canvas(run: GradedClass) -> Iterator[OutputFile]:
    """`gradebook.csv`, to be imported in Canvas's gradebook."""
    blank = [""] * (len(CANVAS) - 1)
    rows: list[list[object]] = [
        [*CANVAS, *(assignment.title for assignment in run.course.assignments)],
        ["    Points Possible", *blank, *(a.max_score for a in run.course.assignments)],
    ]
    for result in run.results:
        one = _enrolled(run, result)
        login = one.login or ("" if one.number else result.student)
        who = [safe(one.name or result.student), one.number, "", login, one.section]
        rows.append([*who, *_grades(run, result)])
    yield OutputFile("gradebook.csv", table(rows))


def moodle(run: GradedClass) -> Iterator[OutputFile]:
    """`grades.csv` for Moodle's grade import, and a grading worksheet per assignment.

    The worksheets are for those whom a worksheet of Moodle's, given as roster, listed.
    """
    titles = [assignment.title for assignment in run.course.assignments]
    rows: list[list[object]] = [[*MOODLE, *titles]]
    for result in run.results:
        one = _enrolled(run, result)
        who = [safe(one.login or result.student), safe(one.name), one.email]
        rows.append([*who, *_grades(run, result)])
    yield OutputFile("grades.csv", table(rows))
    listed = [r for r in run.results if _enrolled(run, r).identifier]
    if listed:
        for assignment in run.course.assignments:
            yield OutputFile(f"worksheet_{assignment.id}.csv", _worksheet(run, assignment, listed))


def _worksheet(run: GradedClass, assignment: Assignment, results: list[Result]) -> str:
    rows: list[list[object]] = [list(WORKSHEET)]
    for result in results:
        one = _enrolled(run, result)
        grade = _grade(_of(result, assignment), result)
        who = [one.identifier, safe(one.name), one.email]
        rows.append([*who, grade, assignment.max_score, "Yes", "-"])
    return table(rows)


def _enrolled(run: GradedClass, result: Result) -> Enrolled:
    return run.roster.get(result.student, Enrolled(result.student))


def _grades(run: GradedClass, result: Result) -> list[object]:
    return [_grade(_of(result, assignment), result) for assignment in run.course.assignments]


def _of(result: Result, assignment: Assignment) -> AssignmentResult | None:
    return next((found for found in result.assignments if found.id == assignment.id), None)


def _grade(assignment: AssignmentResult | None, result: Result) -> object:
    if assignment is None or assignment.score is None or not is_handed_in(result, assignment):
        return ""
    return "" if result.undecided and _is_undecided(assignment) else points(assignment.score)


def _is_undecided(assignment: AssignmentResult) -> bool:
    return any(exercise.undecided for exercise in assignment.exercises)
