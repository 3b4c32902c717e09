"""The part of `grader grade` that concerns nbgrader's gradebook; nbgrader is imported only here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.render import console
from grader.core.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.core.records import Result
    from grader.course.course import Course
    from grader.submissions.student_folders import Student

FOLDER = "nbgrader"


def prepare(course: "Course", address: str, out: Path) -> None:
    """Open the gradebook and give it the course's structure, before anybody is graded."""
    with _needing_nbgrader():
        from grader.gradebook.fill import prepare_gradebook

    for note in prepare_gradebook(course, address, out / FOLDER):
        console().print(note, style="yellow", markup=False, soft_wrap=True)


def fill(
    course: "Course",
    students: "Sequence[Student]",
    results: "list[Result]",
    address: str,
    out: Path,
    screen: "Console",
) -> bool:
    """Write the class into the gradebook; whether everybody is in it."""
    with _needing_nbgrader():
        from grader.gradebook.fill import fill_gradebook

    filled = fill_gradebook(course, students, results, address, out / FOLDER)
    screen.print(
        f"nbgrader's gradebook has {filled.students} students. Its form grader opens in "
        f"{out / FOLDER}: run `jupyter lab` there, then choose Nbgrader, Formgrader.",
        markup=False,
        soft_wrap=True,
    )
    for student, why in filled.failed.items():
        screen.print(f"NOT IN THE GRADEBOOK: {student}: {why}", markup=False, soft_wrap=True)
    return not filled.failed


@contextmanager
def _needing_nbgrader() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"A gradebook needs nbgrader, and {error.name} is not installed. "
            "Run: pip install 'attention-course[instructor]'."
        ) from error
