"""Fills nbgrader's gradebook from a class's results, and writes what its form grader needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from grader.core.errors import GraderError
from grader.core.files import write_whole
from grader.core.records import Result
from grader.course.course import Course
from grader.gradebook.answers import answered_notebook
from grader.gradebook.scores import write_student
from grader.gradebook.store import database_url, open_gradebook, reason, without_password
from grader.gradebook.structure import write_structure
from grader.intake.folders import Student
from grader.intake.roster import Enrolled
from grader.release.nbgrader import CONFIG, config, course_id, source_notebook
from grader.release.solution_cells import Solution, read_solution
from grader.submissions.faults import FAULTS
from grader.submissions.submission import Submission, read_submission

AUTOGRADED = "autograded"


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of filling a gradebook.

    Args:
        students: how many were written.
        failed: who was not, and why.
    """

    students: int
    failed: dict[str, str]


def prepare_gradebook(course: Course, address: str, folder: Path) -> list[str]:
    """Write the course's structure: its assignments into the gradebook, its notebooks on disk.

    Called before a class is graded, so that a wrong address is reported at once.

    Args:
        course: the course.
        address: the gradebook's, a path or a database URL.
        folder: where nbgrader's configuration and the notebooks are written.

    Returns:
        What was removed because the course no longer has it.

    Raises:
        UsageError: when the gradebook cannot be opened.
    """
    with open_gradebook(address, course_id(course)) as gradebook:
        notes = write_structure(gradebook, course)
    write_whole(folder / CONFIG, config(course, without_password(database_url(address))))
    for assignment in course.assignments:
        source_notebook(course, assignment).write(folder)
    return notes


def fill_gradebook(
    course: Course,
    students: Sequence[Student],
    results: Sequence[Result],
    address: str,
    folder: Path,
    roster: Mapping[str, Enrolled] = {},
    times: Mapping[str, Mapping[str, str]] = {},
) -> Filled:
    """Write every student: scores and comments into the gradebook, notebooks for the form grader.

    A student is written whole or not at all; the others are written also when one fails.

    Args:
        course: what was graded.
        students: where each student's files are.
        results: the instructor's records.
        address: the gradebook's, a path or a database URL.
        folder: where the notebooks are written.
        roster: what is known of students besides, by name.
        times: when each student handed in each assignment, where that is known.

    Raises:
        UsageError: when the gradebook cannot be opened.
    """
    sources = {a.id: read_solution(a, course.paths(a).solution) for a in course.assignments}
    paths = {student.id: student.path for student in students}
    failed = {}
    with open_gradebook(address, course_id(course)) as gradebook:
        for result in results:
            try:
                submission = _submission(course, result, paths.get(result.student))
                readings = submission.readings.items()
                at = {id_: r.submitted_at for id_, r in readings if r.submitted_at is not None}
                known = times.get(result.student, {}).items()
                at |= {id_: datetime.fromisoformat(text) for id_, text in known}
                write_student(gradebook, course, result, at, roster.get(result.student))
                _write_notebooks(folder, result, submission, sources)
            except (SQLAlchemyError, GraderError, *FAULTS) as error:
                failed[result.student] = reason(error)
    return Filled(len(results) - len(failed), failed)


def _submission(course: Course, result: Result, path: Path | None) -> Submission:
    if path is None or not result.submitted:
        return Submission(result.student)
    return read_submission(course, path, result.student)


def _write_notebooks(
    folder: Path, result: Result, submission: Submission, sources: dict[str, Solution]
) -> None:
    for graded in result.assignments:
        if graded.read_from and not graded.handed_in_by:
            source = sources[graded.id]
            name = f"{graded.id}/{source.assignment.module}.ipynb"
            text = answered_notebook(submission, source)
            write_whole(folder / AUTOGRADED / result.student / name, text)
