"""Students whose work lies in repositories: attempts, and when it was handed in, by git's commits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.text import clean
from grader.course.course import WORK, Assignment, Course
from grader.intake.attempts import Arrived, attempts_of
from grader.intake.folders import Student
from grader.intake.git_process import UnreadableError
from grader.intake.history import Commit, Repository, opened
from grader.intake.repositories import Clones
from grader.submissions.moments import BY_GIT, Moment


def with_history(
    course: Course, student: Student, clones: Clones, scratch: Callable[[], Path]
) -> tuple[Student, str]:
    """A student with an attempt for each commit that changed their work; or why there is none.

    Args:
        course: the course.
        student: who.
        clones: their repositories.
        scratch: makes a folder for what is written, and returns it.

    Raises:
        OSError: when a folder cannot be read.
    """
    if not clones:
        return student, ""
    place = scratch() / "history" / student.id
    history = History(place)
    try:
        arrived = [
            one
            for number, (clone, only) in enumerate(clones)
            for one in history.of(clone, only, f"{number}")
        ]
    except UsageError as error:
        return student, f"{student.id} has no history that can be read: {error}"
    attempts = attempts_of(arrived, lambda: place / "together")
    if not attempts:
        note = history.note() or "no commit holds any work."
        return student, f"{student.id} has no history: {note}"
    note = f"{student.id}: {history.note()}" if history.left_out else ""
    return replace(student, path=attempts[-1].path, attempts=attempts), note


@dataclass(slots=True)
class History:
    """The commits of one student's repositories, written into folders.

    Args:
        place: where to.
        left_out: what could not be read, in a few words each.
    """

    place: Path
    left_out: list[str] = field(default_factory=list)

    def of(self, clone: Path, only: Assignment | None, name: str) -> Iterator[Arrived]:
        """The commits of a repository that hold any work, the last one first.

        Args:
            clone: the repository.
            only: the assignment that it is of, if of one only.
            name: of the folder for it.

        Raises:
            UsageError: when its history cannot be read.
        """
        repository = opened(clone, self.place / f"{name}.git")
        if repository is None:
            raise UsageError(f"{clone.name} is no clone with commits.")
        below = _below(clone, "" if only is None else only.id)
        for position, commit in reversed([*enumerate(repository.commits(below))]):
            folder = self.place / name / f"{position:05}"
            inner = folder if only is None else folder / only.id
            if self._is_written(repository, commit, below, inner):
                parts = {} if only is None else {only.id: inner}
                yield Arrived(Moment(commit.at, BY_GIT), folder, parts)

    def _is_written(self, repository: Repository, commit: Commit, below: str, folder: Path) -> bool:
        """Whether a commit holds any work, which is written then."""
        try:
            is_any, names = repository.write(commit, below, folder)
        except UnreadableError as error:
            self.left_out.append(f"the commit {commit.sha[:10]} ({str(error).rstrip('.')})")
            return False
        self.left_out += [f"{clean(name, 80)} of {commit.sha[:10]}" for name in names]
        return is_any

    def note(self) -> str:
        """What could not be read, as a sentence; "" for nothing."""
        more = len(self.left_out) - 1
        others = f", and {more} more like it" if more > 0 else ""
        return f"left out is {self.left_out[0]}{others}." if self.left_out else ""


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

    Raises:
        OSError: when a folder cannot be read.
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
