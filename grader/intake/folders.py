"""Finds the students of a class and what each handed in."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.course.course import MANIFEST, WORK
from grader.intake.attempts import Attempt, stamp_of, stamps_in
from grader.intake.roster import Enrolled
from grader.submissions.file_names import FORMS, plain_name
from grader.submissions.moments import Times

STORE, JOURNAL = "class.sqlite", "run.jsonl"
"""The files that show that a run wrote a folder: it is no student's."""
PARTS_OF_OUTPUT = ("results", "feedback", "reports", "former")
HANDED_IN = {
    "submitted": ("source", "release", "autograded", "feedback"),
    "inbound": ("outbound", "feedback"),
}
"""By nbgrader's folder of what was handed in, in a course and in an exchange, those beside it."""
LEAST_CLASS = 3
"""So many students' folders in a folder are a class, whatever its name."""


@dataclass(frozen=True, slots=True)
class Student:
    """A student and where their work lies.

    Args:
        path: None for one who handed in nothing; of several attempts, the last.
        only: the assignments to grade; all of them where none is named.
        times: when it was handed in, where that is not told by the files themselves.
        attempts: each time that something was handed in, where that is known, the first one first.
        refused: why nobody can read what was handed in; "" where it can be.
    """

    id: str
    path: Path | None
    only: tuple[str, ...] = ()
    times: Times = ()
    attempts: tuple[Attempt, ...] = ()
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
    _refuse_other_folders(submissions, assignments)
    if _is_students(submissions, assignments):
        return [Student(submissions.resolve().name, submissions)]
    folders = [p for p in submissions.iterdir() if p.is_dir() and not p.is_symlink()]
    folders = [p for p in folders if not p.name.startswith(".") and not is_output(p)]
    roster = [*roster]
    _refuse_folder_above(submissions, folders, assignments, {one.student for one in roster})
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
    names = {f"{id_.partition('_')[2]}{form}" for id_ in assignments for form in FORMS}
    with suppress(OSError):
        return any(
            (path.name in assignments and path.is_dir()) or (path.name in names and path.is_file())
            for path in folder.iterdir()
        )
    return False


def _has_attempts(folder: Path) -> bool:
    """Whether a folder holds the attempts of one student, in folders named after their times."""
    with suppress(OSError):
        moments, others = stamps_in(folder)
        return bool(moments) and not others
    return False


def _is_students(folder: Path, assignments: Collection[str]) -> bool:
    """Whether a folder holds the work of one student, or their attempts."""
    return _is_one_students(folder, assignments) or _has_attempts(folder)


def is_output(folder: Path) -> bool:
    """Whether a class run writes its results into a folder."""
    with suppress(OSError):  # a student's folder that cannot be read is still a student's
        return any((folder / name).exists() for name in (STORE, JOURNAL))
    return False


def _refuse_other_folders(folder: Path, assignments: Collection[str]) -> None:
    """Do nothing with a folder of students, or of one.

    Raises:
        UsageError: with a folder that looks like something else, and what to give instead.
    """
    real = folder.resolve()
    parent, students = real.parent, "Give the folder with one folder per student."
    if is_output(folder) or (is_output(parent) and real.name in PARTS_OF_OUTPUT):
        raise UsageError(
            f"{folder} is what an earlier `grader grade` wrote, not what students handed in. {students}"
        )
    if (folder / MANIFEST).is_file():
        work = folder / WORK
        one = f", or {work} for what one student wrote in this copy" if work.is_dir() else ""
        raise UsageError(
            f"{folder} is a course or a copy of one: {MANIFEST} lies in it. {students[:-1]}{one}."
        )
    for name, others in HANDED_IN.items():
        if (folder / name).is_dir() and any((folder / other).is_dir() for other in others):
            raise UsageError(
                f"{folder} is a folder of nbgrader's, with what students handed in and more beside "
                f"it. Give {folder / name}."
            )
        if real.name in others and (parent / name).is_dir():
            raise UsageError(
                f"{folder} is what nbgrader keeps beside the work of students. Give "
                f"{folder.parent / name}."
            )
    if plain_name(real.name) in assignments:
        raise UsageError(
            f"{folder} is the folder of one assignment. Give the student's folder, "
            f"{parent}, or the class's."
        )
    if stamp_of(real.name) and _is_one_students(folder, assignments) and _has_attempts(parent):
        raise UsageError(
            f"{folder} is one of several attempts. Give the student's folder, {parent}, or the "
            "class's."
        )


def _refuse_folder_above(
    submissions: Path, folders: Sequence[Path], assignments: Collection[str], known: set[str]
) -> None:
    """Do nothing with a folder in which the students' folders lie.

    A student may have packed their work in a folder, or in two; a class has more students in it
    than lie beside it.

    Args:
        submissions: the folder.
        folders: those in it.
        assignments: the ids of the course's assignments.
        known: who is enrolled.

    Raises:
        UsageError: with the folder above, and which of those in it to give.
    """
    students = [path for path in folders if _is_students(path, assignments)]
    inside = {p: _students_in(p, assignments) for p in folders if p not in students}
    classes = [
        path
        for path, count in inside.items()
        if count > len(students) and not (path.name in known and count < LEAST_CLASS)
    ]
    larger = [path for path in classes if inside[path] > 1]
    if classes := larger or classes:
        names = " or ".join(str(path) for path in classes[:3])
        raise UsageError(f"{submissions} holds a class, not students. Did you mean {names}?")


def _students_in(folder: Path, assignments: Collection[str]) -> int:
    """How many students' folders lie in a folder."""
    with suppress(OSError):
        inside = (path for path in folder.iterdir() if path.is_dir() and not stamp_of(path.name))
        return sum(_is_students(path, assignments) for path in inside)
    return 0
