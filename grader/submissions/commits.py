"""Students whose work lies in repositories: attempts, and when it was handed in, by git's commits."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from grader.core.errors import UsageError
from grader.course.course import WORK, Course
from grader.submissions.attempts import Arrived, attempts_of
from grader.submissions.history import Commit, Repository, opened
from grader.submissions.moments import BY_GIT, Moment
from grader.submissions.repositories import Clones
from grader.submissions.student_folders import Student


def with_history(
    course: Course, student: Student, clones: Clones, scratch: Callable[[], Path]
) -> tuple[Student, str]:
    """A student with an attempt for each commit that changed their work; or why there is none.

    Args:
        course: the course.
        student: who.
        clones: their repositories.
        scratch: makes a folder for what is written, and returns it.
    """
    if not clones:
        return student, ""
    place = scratch() / "history" / student.id
    try:
        arrived = [*_arrived(course, student, clones, place)]
    except UsageError as error:
        return student, f"{student.id} has no history that can be read: {error}"
    attempts = attempts_of(arrived, lambda: place / "together")
    if not attempts:
        return student, f"{student.id} has no history: no commit holds any work."
    return replace(student, path=attempts[-1].path, attempts=attempts), ""


def _arrived(course: Course, student: Student, clones: Clones, place: Path) -> Iterator[Arrived]:
    for number, (clone, only) in enumerate(clones):
        repository = opened(clone, place / f"{number}.git")
        if repository is None:
            raise UsageError(f"{clone.name} is no clone with commits.")
        below = _below(clone, "" if only is None else only.id)
        for position, commit in enumerate(repository.commits(below)):
            folder = place / f"{number}" / f"{position:05}"
            inner = folder if only is None else folder / only.id
            if _is_written(repository, commit, below, inner):
                parts = {} if only is None else {only.id: inner}
                yield Arrived(Moment(commit.at, BY_GIT), folder, parts)


def _is_written(repository: Repository, commit: Commit, below: str, folder: Path) -> bool:
    try:
        return repository.write(commit, below, folder)
    except UsageError:  # a commit that removed the folder
        return False


def _below(clone: Path, assignment: str) -> str:
    """The folder of a repository that holds the work, as a path in it; "" for all of it."""
    inner = (f"{WORK}/{assignment}", assignment) if assignment else (WORK,)
    return next((name for name in inner if (clone / name).is_dir()), "")


def with_commit_times(
    course: Course, student: Student, clones: Clones, scratch: Callable[[], Path]
) -> tuple[Student, str]:
    """A student with the times of the last commits on assignments that have a due date.

    Args:
        course: the course.
        student: who.
        clones: their repositories.
        scratch: makes a folder for what is written, and returns it.
    """
    due = [a.id for a in course.assignments if a.due is not None]
    times: dict[str, Moment] = {}
    for number, (clone, only) in enumerate(clones if due else ()):
        try:
            repository = opened(clone, scratch() / "times" / student.id / f"{number}.git")
            if repository is None:
                continue
            for id_ in due if only is None else {only.id} & {*due}:
                commits = repository.commits(_below(clone, id_))
                if commits:
                    times[id_] = Moment(commits[-1].at, BY_GIT)
        except UsageError as error:
            why = (
                f"{student.id}: nothing is taken for late, because no commits can be read: {error}"
            )
            return student, why
    return replace(student, times=tuple(times.items())), ""
