"""Repositories side by side, as classroom tools clone them: `<assignment>-<login>/`."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.course import MANIFEST, WORK, Assignment, Course
from grader.submissions.roster import Enrolled, is_folder_name
from grader.submissions.submission import FORMS


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder of repositories holds.

    Args:
        work: where each student's work lies.
        notes: who could not be found on the roster.
    """

    work: dict[str, Path]
    notes: tuple[str, ...]


def repositories(
    course: Course, submissions: Path, scratch: Callable[[], Path], roster: Sequence[Enrolled]
) -> Found | None:
    """Read a folder of repositories; None where there is none.

    Args:
        course: the course.
        submissions: the folder.
        scratch: makes the folder where the work of a student with several repositories is put
            together, and returns it.
        roster: who is enrolled; their logins decide where a name could be read in two ways.
    """
    folders = _folders(submissions)
    names = [path.name for path in folders if _is_repository(course, path)]
    if not names:
        return None
    prefix = _common_prefix(names)
    work: dict[str, list[tuple[Path, Assignment | None]]] = defaultdict(list)
    notes = []
    for path in folders:
        login, assignment = _login(course, path, prefix, roster)
        listed = _listed(login, roster)
        if roster and listed is None:
            notes.append(
                f"{path.name} could not be placed: it ends in no login of the roster. "
                f"Graded as {login}."
            )
        work[listed.student if listed else login].append((path, assignment))
    found = {name: _work_of(several, scratch, name) for name, several in work.items()}
    return Found(found, tuple(notes))


def _folders(submissions: Path) -> list[Path]:
    if not submissions.is_dir() or (submissions / MANIFEST).is_file():
        return []
    return sorted(
        path
        for path in submissions.iterdir()
        if path.is_dir() and not path.is_symlink() and is_folder_name(path.name)
    )


def _is_repository(course: Course, path: Path) -> bool:
    is_copy = (path / MANIFEST).is_file() and (path / WORK).is_dir()
    return is_copy or _assignment_of(course, path.name) is not None


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
    split = [name.split("-") for name in names]
    shared: list[str] = []
    for parts in zip(*(parts[:-1] for parts in split), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "-".join(shared)


def _login(
    course: Course, path: Path, prefix: str, roster: Sequence[Enrolled]
) -> tuple[str, Assignment | None]:
    """Whose repository it is, and of which assignment if of one only."""
    found = _assignment_of(course, path.name)
    if found is not None:
        return found[1], found[0]
    ends = [
        login
        for one in roster
        for login in (one.login, one.student)
        if login and path.name.casefold().endswith(f"-{login.casefold()}")
    ]
    if ends:
        return max(ends, key=len), None
    is_prefixed = prefix and path.name.startswith(f"{prefix}-") and _is_repository(course, path)
    return path.name[len(prefix) + 1 :] if is_prefixed else path.name, None


def _listed(login: str, roster: Sequence[Enrolled]) -> Enrolled | None:
    wanted = login.casefold()
    found = [one for one in roster if wanted in (one.login.casefold(), one.student.casefold())]
    return found[0] if len(found) == 1 else None


def _work_of(
    repositories: Sequence[tuple[Path, Assignment | None]],
    scratch: Callable[[], Path],
    student: str,
) -> Path:
    """Where a student's work lies: in the one repository, or put together from several."""
    if len(repositories) == 1 and repositories[0][1] is None:
        path = repositories[0][0]
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
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.suffix in FORMS and path.is_file() and not path.is_symlink():
            shutil.copyfile(path, target / path.name)
