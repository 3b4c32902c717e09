"""Reads what a class, and classes of earlier years, handed in, as traces."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.records import Result
from grader.course.course import Course
from grader.similarity.traces import Given, Work, work_of
from grader.submissions.intake import read_submissions
from grader.submissions.submission import read_submission


def gather(
    course: Course,
    submissions: Path,
    result_of: Callable[[str], Result | None],
    archives: Sequence[Path] = (),
) -> list[Work]:
    """The work of a class and of earlier ones.

    Args:
        course: the course.
        submissions: what the class handed in, as `grader grade` was given it.
        result_of: a student's result in a run; of those without one only texts are compared.
        archives: what classes of earlier years handed in.

    Raises:
        UsageError: when there is nothing to read.
    """
    given = {a.id: Given.of(course, a) for a in course.assignments}
    works = [*_class(course, submissions, given, result_of)]
    for number, archive in enumerate(archives, 1):
        name = archive.resolve().name
        same = sum(other.resolve().name == name for other in archives[:number]) > 1
        works += _class(course, archive, given, _nothing, f"{name}_{number}" if same else name)
    if not works:
        raise UsageError(f"{submissions} holds no work.")
    return works


def _class(
    course: Course,
    submissions: Path,
    given: Mapping[str, Given],
    result_of: Callable[[str], Result | None],
    archive: str = "",
) -> Iterator[Work]:
    with read_submissions(course, submissions) as intake:
        for student in intake.students:
            if student.path is None:
                continue
            submission = read_submission(course, student.path, student.id)
            folder = student.path if student.path.is_dir() else student.path.parent
            if not submission.is_empty:
                yield work_of(submission, folder, given, result_of(student.id), archive)


def _nothing(_student: str) -> None:
    """The result of somebody whose run is over for years."""


def read_groups(path: Path) -> list[list[str]]:
    """Who was meant to work together: a group a line, set apart by commas.

    Raises:
        UsageError: when the file cannot be read.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from error
    groups = [line.partition("#")[0].split(",") for line in lines]
    return [[name.strip() for name in group if name.strip()] for group in groups if any(group)]
