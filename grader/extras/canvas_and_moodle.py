"""What Canvas and Moodle import: tables of grades.

A grade is blank where nothing was handed in for an assignment, where it does not count for the student
(in Canvas "EX"), and where the score is undecided. A blank changes no grade; a zero would.

Beside the tables is `feedback.zip`, everybody's page as the platform takes feedback files for all: named as
its own download was, which is how it knows whose a file is. Where nobody's name is known, a text says what
is missing.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping

from grader.core.files import OutputFile, table
from grader.core.records import Result
from grader.course.course import Assignment
from grader.intake.platform_zips import CANVAS as CANVAS_FILE
from grader.intake.platform_zips import MOODLE as MOODLE_FILE
from grader.intake.platform_zips import moodle_prefix
from grader.intake.roster import Enrolled
from grader.judging.results import points
from grader.reports.base import GradedClass
from grader.reports.html.pages import student_page

NO_ZIP = {
    CANVAS_FILE: "There is no feedback.zip: Canvas knows a page by the number of a file that the student handed in.\n"
    "Only its own zip of all submissions has these numbers: grade that zip as it was downloaded.\n",
    MOODLE_FILE: "There is no feedback.zip: Moodle knows a page by its own number of the student.\n"
    "Give `grader grade` its grading worksheet as --roster, or grade its zip of all submissions as it was\n"
    "downloaded: both have these numbers.\n",
}
"""What is said where no page can be named, by the form of the platform's names."""
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"
"""Canvas's own word for an assignment that does not count for a student."""

PAGE = "feedback.html"
MOMENT = (2020, 1, 1, 0, 0, 0)
"""Every page's time, so that the same pages make the same zip."""
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
    # Canvas needs the number of a file that the student handed in, which only its download has.
    yield from _feedback(run, {s: one.upload for s, one in run.roster.items()}, CANVAS_FILE)


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
    prefixes = {
        student: one.upload or (moodle_prefix(one.name, one.number) if one.identifier else "")
        for student, one in run.roster.items()
    }
    yield from _feedback(run, prefixes, MOODLE_FILE)
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


def _feedback(
    run: GradedClass, prefixes: Mapping[str, str], form: re.Pattern[str]
) -> Iterator[OutputFile]:
    """The pages of those whom the platform knows, in one zip; where there are none, what is missing.

    Args:
        run: the class.
        prefixes: by student, what the platform's names of files begin with.
        form: what such a name has to be.
    """
    pages = {
        f"{prefix}{PAGE}": student_page(result, run.course, _enrolled(run, result).name)
        for result in run.results
        if form.fullmatch(f"{(prefix := prefixes.get(result.student, ''))}{PAGE}")
        and result.submitted
    }
    if not pages:
        yield OutputFile("no_feedback_zip.txt", NO_ZIP[form])
        return
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in pages.items():
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, page.encode())
    yield OutputFile("feedback.zip", memory.getvalue())


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
