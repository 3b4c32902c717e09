"""Finds the students of a class and what each handed in."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.submissions.roster import Enrolled
from grader.submissions.submission import FORMS

JOURNAL = "run.jsonl"
"""The file that shows that a run wrote a folder: it is no student's."""


@dataclass(frozen=True, slots=True)
class Student:
    """A student and where their work lies; None for one who handed in nothing."""

    id: str
    path: Path | None


def read_class(
    submissions: Path, assignments: Collection[str] = (), roster: Iterable[Enrolled] = ()
) -> list[Student]:
    """The students of a class, by name; a folder of assignments is a class of one.

    Args:
        submissions: a folder with one folder per student, or one student's folder or file.
        assignments: the ids of the course's assignments.
        roster: who is enrolled; those who handed in nothing are listed, too.

    Raises:
        UsageError: when there is nothing to grade.
    """
    if submissions.is_file() and submissions.suffix in FORMS:
        return [Student(submissions.stem, submissions)]
    if not submissions.is_dir():
        raise UsageError(
            f"There is no folder {submissions}. Give a folder with one folder per student, "
            "or a single .py or .ipynb."
        )
    if any((submissions / id_).is_dir() for id_ in assignments):
        return [Student(submissions.resolve().name, submissions)]
    folders = [path for path in submissions.iterdir() if not path.name.startswith(".")]
    found = {
        path.name: path
        for path in folders
        if path.is_dir() and not path.is_symlink() and not (path / JOURNAL).exists()
    }
    names = {*found, *(enrolled.student for enrolled in roster)}
    if not names:
        raise UsageError(
            f"{submissions} holds no student's folder. Expected is <student>/<nn_assignment>/<file>; "
            "the zip of a whole class from Canvas or Moodle is read as it is, so give the zip itself."
        )
    return [Student(name, found.get(name)) for name in sorted(names)]
