"""Repositories side by side, as classroom tools clone them: `<assignment>-<login>/`."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from grader.course.course import MANIFEST, WORK, Assignment, Course
from grader.intake.roster import Enrolled, is_folder_name
from grader.submissions.faults import each
from grader.submissions.file_names import copy_code

Clones = Sequence[tuple[Path, Assignment | None]]
"""A student's repositories, each with the one assignment that it is of, if it is of one only."""


Repositories = tuple[Mapping[str, Path], Mapping[str, Clones], Sequence[str], Mapping[str, str]]
"""By student, where the work lies and the repositories; who is not on the roster; what cannot be read."""


def repositories(
    course: Course, submissions: Path, scratch: Callable[[], Path], roster: Sequence[Enrolled]
) -> Repositories | None:
    """A class whose folders are repositories; None where they are none.

    Args:
        course: the course.
        submissions: the folder.
        scratch: makes the folder where the work of a student with several repositories is put
            together, and returns it.
        roster: who is enrolled; their logins decide where a name could be read in two ways.
    """
    folders = _folders(submissions)
    names = [p.name for p in folders if _is_copy(p) or _assignment_of(course, p.name)]
    if not names:
        return None
    prefix = _common_prefix(names)
    clones: dict[str, list[tuple[Path, Assignment | None]]] = defaultdict(list)
    notes = []
    for path in folders:
        login, assignment = _login(course, path, prefix, roster)
        if not is_folder_name(login):
            login = path.name
        wanted = login.casefold()
        listed = [e.student for e in roster if wanted in (e.login.casefold(), e.student.casefold())]
        student = listed[0] if len(listed) == 1 else login
        if roster and len(listed) != 1:
            notes.append(
                f"{path.name} could not be placed: it ends in no login of the roster. "
                f"Graded as {login}."
            )
        clones[student].append((path, assignment))
    work, refused = each(clones, lambda name, several: _work_of(several, scratch, name))
    return work, clones, notes, refused


def _folders(submissions: Path) -> list[Path]:
    if not submissions.is_dir() or (submissions / MANIFEST).is_file():
        return []
    return sorted(
        path
        for path in submissions.iterdir()
        if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
    )


def _is_copy(path: Path) -> bool:
    """Whether a folder holds a copy of the course; one that cannot be read holds none."""
    with suppress(OSError):
        return (path / MANIFEST).is_file() and (path / WORK).is_dir()
    return False


def _assignment_of(course: Course, name: str) -> tuple[Assignment, str] | None:
    """The assignment that a repository's name begins with, and the login after it."""
    for assignment in course.assignments:
        for written in (assignment.id, assignment.id.replace("_", "-")):
            if name.startswith(f"{written}-") and len(name) > len(written) + 1:
                return assignment, name[len(written) + 1 :]
    return None


def _common_prefix(names: Sequence[str]) -> str:
    """What all repositories' names begin with, up to a hyphen; nothing for a single one."""
    if len(names) < 2:
        return ""
    columns = zip(*(name.split("-")[:-1] for name in names), strict=False)
    shared = takewhile(lambda parts: len(set(parts)) == 1, columns)
    return "-".join(parts[0] for parts in shared)


def _login(
    course: Course, path: Path, prefix: str, roster: Sequence[Enrolled]
) -> tuple[str, Assignment | None]:
    """Whose repository it is, and of which assignment if of one only."""
    if found := _assignment_of(course, path.name):
        return found[1], found[0]
    ends = [
        login
        for one in roster
        for login in (one.login, one.student)
        if login and path.name.casefold().endswith(f"-{login.casefold()}")
    ]
    if ends:
        return max(ends, key=len), None
    own = path.name.removeprefix(f"{prefix}-") if prefix and _is_copy(path) else path.name
    return own, None


def _work_of(
    repositories: Sequence[tuple[Path, Assignment | None]],
    scratch: Callable[[], Path],
    student: str,
) -> Path:
    """Where a student's work lies: in the one repository, or put together from several."""
    path, only = repositories[0]
    if len(repositories) == 1 and only is None:
        inner = path / WORK
        return inner if inner.is_dir() and not inner.is_symlink() else path
    together = scratch() / student
    together.mkdir(parents=True, exist_ok=True)
    for path, assignment in repositories:
        if assignment is not None:
            _copy_work(path, assignment, together / assignment.id)
    return together


def _copy_work(repository: Path, assignment: Assignment, target: Path) -> None:
    """Copy one assignment's scripts and notebooks out of its repository, never through a link."""
    inner = (repository / WORK / assignment.id, repository / assignment.id, repository)
    source = next(path for path in inner if path.is_dir() and not path.is_symlink())
    copy_code(source, target, has_folders=source != repository or not _is_copy(repository))
