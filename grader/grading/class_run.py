"""A class run: who is still to be graded, by whom, and everything written as it comes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.core.errors import CourseError
from grader.core.language import current
from grader.core.versions import grader_hash, versions
from grader.course.course import MANIFEST, Course
from grader.grading.class_files import (
    Coverage,
    Row,
    Written,
    move_aside,
    write_class,
    write_student,
)
from grader.grading.journal import Journal, RunIdentity, earlier_seed, new_seed
from grader.grading.run_settings import RunSettings
from grader.grading.workers import new_worker
from grader.submissions.payload import Payload, read_payload
from grader.submissions.roster import Enrolled
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
class ClassResult:
    """What a run leaves.

    Args:
        rows: of everybody who has a result in the folder, by name.
        covers: which of them are of this run.
        left: whose results were moved aside, because they are not in the class any more.
    """

    rows: list[Row]
    covers: Coverage
    left: tuple[str, ...] = ()


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
        is_whole: whether these are all students: results of others are then moved aside. Otherwise
            they are added to.
        roster: what is known of students besides, by name.
    """

    course: Course
    students: Sequence[Student]
    out: Path
    isolation: str = "sealed"
    seed: str | None = None
    force: bool = False
    is_whole: bool = True
    roster: Mapping[str, Enrolled] = field(default_factory=dict)

    def carry_out(self, grade: Grade, watcher: Watcher) -> ClassResult:
        """Grade who is not done, and return everybody's rows in order.

        However it ends, each student who is done is written, and the class's files have everybody
        with a result in the folder.

        Raises:
            UsageError: in a released copy, or when another run writes to the folder.
            CourseError: when an assignment has no solution.
        """
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
                for student, done in grade(settings, todo) if todo else ():
                    if isinstance(done, str):
                        from grader.grading.worker import undecided_result  # imports torch

                        done = undecided_result(settings, student, done)
                    write_student(self.out, done)
                    journal.add(student.id, prints[student.id], done.row)
                    rows[student.id] = done.row
                    watcher.done(done.row)
            finally:
                result = self._result(rows, journal)
                if rows:  # a run that could not begin leaves an earlier one's files alone
                    write_class(course, result.rows, self.out, result.covers, self.roster)
        return result

    def _result(self, rows: dict[str, Row], journal: Journal) -> ClassResult:
        """This run's rows with those of earlier ones; of students who left, none."""
        ids = {student.id for student in self.students}
        others = journal.earlier(journal.before.keys() - ids)
        left = sorted(others) if self.is_whole and rows else []
        for student in left:
            move_aside(self.out, student)
        kept = journal.earlier(ids - rows.keys()) | ({} if self.is_whole else others)
        to_do = tuple(student.id for student in self.students if student.id not in rows)
        covers = Coverage(self.course.hash, frozenset(kept), to_do)
        found = rows | kept
        return ClassResult([found[id_] for id_ in sorted(found)], covers, tuple(left))

    def _require_solutions(self) -> None:
        self.course.require_solutions()
        paths = {a.id: self.course.paths(a).solution for a in self.course.assignments}
        problems = [
            f"{MANIFEST}: the assignment {id_!r} has no solution: there is no "
            f"{path.relative_to(self.course.root).as_posix()}"
            for id_, path in paths.items()
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
    with closing(new_worker(settings)) as worker:
        for student in students:
            yield student, worker.grade(student)
