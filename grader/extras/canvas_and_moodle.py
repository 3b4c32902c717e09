"""What Canvas and Moodle import: tables of grades.

A grade is blank where nothing was handed in for an assignment, where it does not count for the student
(in Canvas "EX"), and where the score is undecided. A blank changes no grade; a zero would.
"""

from collections.abc import Iterator

from grader.core.files import OutputFile, table
from grader.core.records import Result
from grader.course.course import Assignment
from grader.intake.roster import Enrolled
from grader.judging.results import points
from grader.reports.base import GradedClass

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"
"""Canvas's own word for an assignment that does not count for a student."""

MOODLE = ("Username", "Full name", "Email address")
WORKSHEET = (
    *("Identifier", "Full name", "Email address", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (grade)"),
)


def canvas(run: GradedClass) -> Iterator[OutputFile]:
    """`gradebook.csv`, to be imported in Canvas's gradebook."""
    assignments = run.course.assignments
    blank = [""] * (len(CANVAS) - 1)
    rows: list[list[object]] = [
        [*CANVAS, *(assignment.title for assignment in assignments)],
        # 0 for points that are extra
        ["    Points Possible", *blank, *(0 if a.optional else a.max_score for a in assignments)],
    ]
    for result in run.results:
        one = _enrolled(run, result)
        login = one.login or ("" if one.number else result.student)
        who = [one.name or result.student, one.number, one.sis_number, login, one.section]
        exempt = {a.id for a in result.assignments if a.is_exempt}
        grades = zip(assignments, _grades(run, result), strict=True)
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
