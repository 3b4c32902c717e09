"""Finds the students of a class and what each handed in."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.submissions.attempts import Attempt, stamp_of, stamps_in
from grader.submissions.file_names import FORMS
from grader.submissions.moments import Times
from grader.submissions.roster import Enrolled

JOURNAL = "run.jsonl"
"""The file that shows that a run wrote a folder: it is no student's."""


@dataclass(frozen=True, slots=True)
class Student:
    """A student and where their work lies.

    Args:
        path: None for one who handed in nothing; of several attempts, the last.
        only: the assignments to grade; all of them where none is named.
        times: when it was handed in, where that is not told by the files themselves.
        attempts: each time that something was handed in, where that is known, the first one first.
        content: a fingerprint of what was handed in; worked out from the files unless given.
        refused: why nobody can read what was handed in; "" where it can be.
    """

    id: str
    path: Path | None
    only: tuple[str, ...] = ()
    times: Times = ()
    attempts: tuple[Attempt, ...] = ()
    content: str = ""
    refused: str = ""


def read_class(
    submissions: Path, assignments: Collection[str] = (), roster: Iterable[Enrolled] = ()
) -> list[Student]:
    """The students of a class, by name; a folder of one student's work is a class of one.

    Args:
        submissions: a folder with one folder per student, or one student's folder or file.
        assignments: the ids of the course's assignments.
        roster: who is enrolled; those who handed in nothing are listed, too.

    Raises:
        UsageError: when there is nothing to grade.
    """
    if submissions.is_file() and submissions.suffix.lower() in FORMS:
        return [Student(submissions.stem, submissions)]
    if not submissions.is_dir():
        raise UsageError(
            f"There is no folder {submissions}. Give a folder with one folder per student, "
            "or a single .py or .ipynb."
        )
    if (submissions / JOURNAL).is_file():
        raise UsageError(
            f"{submissions} is what an earlier `grader grade` wrote, not what students handed in. "
            "Give the folder with one folder per student."
        )
    if submissions.resolve().name in assignments:
        raise UsageError(
            f"{submissions} is the folder of one assignment. Give the student's folder, "
            f"{submissions.resolve().parent}, or the class's."
        )
    if _is_one_students(submissions, assignments) or _has_attempts(submissions):
        return [Student(submissions.resolve().name, submissions)]
    folders = [p for p in submissions.iterdir() if p.is_dir() and not p.is_symlink()]
    folders = [p for p in folders if not p.name.startswith(".") and not _is_written_by_us(p)]
    classes = [p for p in folders if _is_class(p, assignments)]
    if classes and not any(_is_one_students(p, assignments) for p in folders):
        names = " or ".join(str(path) for path in classes[:3])
        raise UsageError(f"{submissions} holds a class, not students. Did you mean {names}?")
    found = {path.name: path for path in folders}
    everybody = {*found, *(enrolled.student for enrolled in roster)}
    if not everybody:
        raise UsageError(
            f"{submissions} holds no student's folder. Expected is <student>/<nn_assignment>/<file>; "
            "the zip of a whole class from Canvas or Moodle is read as it is, so give the zip itself."
        )
    return [Student(name, found.get(name)) for name in sorted(everybody)]


def _is_one_students(folder: Path, assignments: Collection[str]) -> bool:
    """Whether a folder holds the work of one student: an assignment's folder, or its file."""
    names = [f"{id_.partition('_')[2]}{form}" for id_ in assignments for form in FORMS]
    with suppress(OSError):
        return any((folder / id_).is_dir() for id_ in assignments) or any(
            (folder / name).is_file() for name in names
        )
    return False


def _has_attempts(folder: Path) -> bool:
    """Whether a folder holds the attempts of one student, in folders named after their times."""
    moments, others = stamps_in(folder)
    return bool(moments) and not others


def _is_written_by_us(folder: Path) -> bool:
    with suppress(OSError):  # a student's folder that cannot be read is still a student's
        return (folder / JOURNAL).exists()
    return False


def _is_class(folder: Path, assignments: Collection[str]) -> bool:
    """Whether students' folders lie in a folder."""
    with suppress(OSError):
        return any(
            path.is_dir() and not stamp_of(path.name) and _is_one_students(path, assignments)
            for path in folder.iterdir()
        )
    return False
