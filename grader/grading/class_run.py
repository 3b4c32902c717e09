"""A class run: who is still to be graded, by whom, and everything written as it comes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grader.core.errors import CourseError
from grader.core.language import current
from grader.core.versions import grader_hash, versions
from grader.course.course import MANIFEST, Course
from grader.grading.class_files import Row, Written, write_class, write_student
from grader.grading.journal import Journal, RunIdentity, earlier_seed, new_seed
from grader.grading.run_settings import RunSettings
from grader.submissions.payload import Payload, read_payload
from grader.submissions.student_folders import Student

Done = Iterator[tuple[Student, Written | str]]
Grade = Callable[[RunSettings, Sequence[Student]], Done]
"""Grades students somewhere, in any order; a text is the reason why one could not be graded."""


class Watcher(Protocol):
    """Shows the progress of a run."""

    def begin(self, students: int, unchanged: int) -> None:
        """The run begins, with some students unchanged since an earlier one."""

    def done(self, row: Row) -> None:
        """One more student is done, and written."""


@dataclass(frozen=True, slots=True)
class ClassRun:
    """What to grade and where to write it.

    Args:
        course: the course.
        students: all of them, in order.
        out: the output folder.
        isolation: "sealed" or "process".
        seed: of the hidden inputs; None for the one of the run that the folder holds, or a new one.
        force: whether to grade those again who are done.
    """

    course: Course
    students: Sequence[Student]
    out: Path
    isolation: str = "sealed"
    seed: str | None = None
    force: bool = False

    def carry_out(self, grade: Grade, watcher: Watcher) -> list[Row]:
        """Grade who is not done, and return the class's rows in order.

        However it ends, each student who is done is written, also into the class's files.

        Args:
            grade: grades students somewhere.
            watcher: shows the progress.

        Raises:
            UsageError: in a released copy, or when another run writes to the folder.
            CourseError: when an assignment has no solution.
        """
        self.course.require_solutions()
        self._require_solutions()
        seed = self.seed or earlier_seed(self.out) or new_seed()
        course, isolation, language = self.course, self.isolation, current()
        settings = RunSettings(course.root, course.hash, seed, isolation, language)
        used = {**versions(), "grader": grader_hash()}
        identity = RunIdentity(seed, course.hash, used, isolation, language)
        with Journal(self.out, identity, self.force) as journal:
            prints = {s.id: fingerprint(course, s) for s in self.students}
            rows = {id_: row for id_ in prints if (row := journal.unchanged(id_, prints[id_]))}
            todo = [student for student in self.students if student.id not in rows]
            watcher.begin(len(self.students), len(rows))
            try:
                for student, written in grade(settings, todo) if todo else ():
                    done = _decided(settings, student, written)
                    write_student(self.out, done)
                    journal.add(student.id, prints[student.id], done.row)
                    rows[student.id] = done.row
                    watcher.done(done.row)
            finally:
                found = [rows[student.id] for student in self.students if student.id in rows]
                if found:  # a run that could not begin leaves an earlier one's files alone
                    write_class(course, found, self.out)
        return found

    def _require_solutions(self) -> None:
        paths = [(a.id, self.course.paths(a).solution) for a in self.course.assignments]
        root = self.course.root
        problems = [
            f"{MANIFEST}: the assignment {id_!r} has no solution: there is no "
            f"{path.relative_to(root).as_posix()}"
            for id_, path in paths
            if not path.is_file()
        ]
        if problems:
            raise CourseError(*problems)


def fingerprint(course: Course, student: Student) -> str:
    """A hash of what a student handed in; never the same where that is unreadable."""
    if student.path is None:
        return ""
    try:
        return read_payload(student.path, student.id, course.by_id).fingerprint
    except OSError:
        return f"unreadable {new_seed()}"


def packed(student: Student) -> Payload | Student:
    """A submission as data, for a machine that cannot read it; every folder in it counts.

    Raises:
        OSError: when a file cannot be read.
    """
    if student.path is None:
        return student
    folders = {path.name for path in student.path.iterdir()} if student.path.is_dir() else set()
    return read_payload(student.path, student.id, folders)


def grade_here(settings: RunSettings, students: Iterable[Student]) -> Done:
    """Grade in this process, one student after the other."""
    from grader.grading.worker import Worker  # imports torch, which the others do without here

    worker = Worker(settings)
    try:
        for student in students:
            yield student, worker.grade(student)
    finally:
        worker.close()


def _decided(settings: RunSettings, student: Student, written: Written | str) -> Written:
    """A student's result: undecided, with the reason, where they could not be graded."""
    if not isinstance(written, str):
        return written
    from grader.grading.worker import undecided_result

    return undecided_result(settings, student, written)
