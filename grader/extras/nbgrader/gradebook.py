"""Fills nbgrader's gradebook from a class's results, and writes what its form grader needs."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from grader.core.errors import GraderError
from grader.core.files import write_whole
from grader.core.records import Result
from grader.course.course import Course
from grader.extras.nbgrader.release import CONFIG, config, course_id, source_notebook
from grader.extras.nbgrader.rows import write_structure, write_student
from grader.extras.nbgrader.store import database_url, open_gradebook, reason, without_password
from grader.intake.folders import Student
from grader.intake.roster import Enrolled
from grader.release.solution_cells import Solution, SolutionCell, read_solution
from grader.release.stubs import notebook_text
from grader.sandbox.statements import without_magics
from grader.submissions.faults import FAULTS
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission, read_submission

AUTOGRADED = "autograded"


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of filling a gradebook.

    Args:
        failed: who was not, and why.
        note: what there is to say of it.
    """

    failed: dict[str, str]
    note: str


def prepare(course: Course, address: str, folder: Path) -> list[str]:
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


def fill(
    course: Course,
    class_: Sequence[Student],
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
        class_: where each student's files are.
        results: the instructor's records.
        address: the gradebook's, a path or a database URL.
        folder: where the notebooks are written.
        roster: what is known of students besides, by name.
        times: when each student handed in each assignment, where that is known.

    Raises:
        UsageError: when the gradebook cannot be opened.
    """
    sources = {a.id: read_solution(a, course.paths(a).solution) for a in course.assignments}
    paths = {student.id: student.path for student in class_}
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
    students = len(results) - len(failed)
    note = (
        f"nbgrader's gradebook has {students} students. Its form grader opens in "
        f"{folder}: run `jupyter lab` there, then choose Nbgrader, Formgrader."
    )
    return Filled(failed, note)


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


def answered_notebook(submission: Submission, source: Solution) -> str:
    """The assignment's notebook with a student's code in its answer cells.

    Below them comes what the answer cells do not show: a script as it was handed in, or a
    notebook's other cells. Nothing of it has been run, and no output is copied.
    """
    keys = submission.readings[source.assignment.id].sources
    files = [submission.sources[key] for key in keys]
    answers = {
        exercise.name: f"# {exercise.name} was not found in what was handed in."
        for exercise in source.assignment.exercises
    }
    for file in reversed(files):  # the first file counts that has it
        found = {name: text for cell in file.cells for name, text in _definitions(cell)}
        answers |= {name: found[name] for name in answers.keys() & found.keys()}
    shown = {_normal(text) for text in answers.values()}
    shown |= {_normal(cell.text) for cell in source.cells}
    others = [cell for file in files for cell in _others(file, shown)]
    return notebook_text(source, lambda cell: answers[cell.exercise], others)


def _others(file: SourceFile, shown: set[str]) -> Iterator[SolutionCell]:
    cells = [cell for cell in file.cells if _normal(cell.text) not in shown | {""}]
    if not cells:
        return
    what = "The other cells of" if file.key.endswith(".ipynb") else "The file as handed in:"
    yield SolutionCell("markdown", f"**{what} `{file.key}`**")
    yield from (SolutionCell("code", cell.text) for cell in cells)


def _definitions(cell: Cell) -> Iterator[tuple[str, str]]:
    """The names that a cell, or a script, defines at its top, last to win, with the text that does it.

    A notebook's cell that defines one thing is kept whole, with everything beside it.
    """
    text = cell.text if cell.number is None else without_magics(cell.text)
    lines = cell.text.split("\n")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    found = [(name, statement) for statement in body for name in _names(statement)]
    alone = cell.number is not None and len(found) == 1
    for name, statement in found:
        yield name, cell.text if alone else _text_of(statement, lines)


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _text_of(statement: ast.stmt, lines: list[str]) -> str:
    """A statement with its decorators, and the comments right above it."""
    decorators = getattr(statement, "decorator_list", [])
    start = min([statement.lineno, *(one.lineno for one in decorators)]) - 1
    while start and lines[start - 1].startswith("#") and not lines[start - 1].startswith("# %%"):
        start -= 1
    return "\n".join(lines[start : statement.end_lineno])


def _normal(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())
