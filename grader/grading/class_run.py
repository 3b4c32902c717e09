"""A class run: who is still to be graded, by whom, and everything written as it comes."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from grader.core.errors import CourseError
from grader.core.kit import KIT_NAME
from grader.core.language import current
from grader.core.records import Result
from grader.core.versions import grader_hash, versions
from grader.course.course import MANIFEST, Course
from grader.grading.class_files import (
    ClassResult,
    Coverage,
    Row,
)
from grader.grading.class_tables import write_class
from grader.grading.decisions import NONE, Decisions
from grader.grading.groups import shared_digest
from grader.grading.journal import Journal, RunIdentity, earlier_run, new_seed
from grader.grading.kept_outcomes import read_kept
from grader.grading.never_lower import EarlierResults
from grader.grading.personal import Personal
from grader.grading.plan import Plan, terms_of
from grader.grading.result_maker import ResultMaker
from grader.grading.run_settings import RunSettings
from grader.grading.set_aside import move_aside
from grader.grading.student_run import About, Doing, StudentRun
from grader.grading.workers import new_worker
from grader.submissions.faults import FAULTS
from grader.submissions.payload import Payload, read_payload
from grader.submissions.roster import Enrolled
from grader.submissions.student_folders import Student

Done = Iterator[tuple[Student, Result | str]]
Grade = Callable[[RunSettings, Sequence[Student]], Done]
"""Grades students somewhere, in any order: outcomes without scores, or why there are none."""


class Watcher(Protocol):
    """Shows the progress of a run."""

    def begin(self, students: int, unchanged: int) -> None:
        """The run begins, with some students unchanged since an earlier one."""

    def planned(self, sentences: Sequence[str]) -> None:
        """What is graded again and why, before the run begins."""

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
        is_whole: whether these are all students: results of others are then moved aside. Otherwise
            they are added to.
        roster: what is known of students besides, by name.
        assignments: the ids of those to grade, of others earlier results stay; all unless given.
        decisions: what was decided about students.
        never_lower: an earlier run, whose scores are not to fall.
        options: those of the command that decide what counts of what was handed in.
        jobs: how many processes of the grader's own read attempts, and make results of outcomes that
            are known.
        basis: what it grades with, where that is known.
        graded: whose attempts were graded just now.
    """

    course: Course
    students: Sequence[Student]
    out: Path
    isolation: str = "sealed"
    seed: str | None = None
    force: bool = False
    is_whole: bool = True
    roster: Mapping[str, Enrolled] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()
    decisions: Decisions = NONE
    never_lower: EarlierResults | None = None
    options: tuple[str, ...] = ()
    jobs: int = 1
    basis: StudentRun | None = None
    graded: frozenset[str] = frozenset()

    def carry_out(self, grade: Grade, watcher: Watcher) -> ClassResult:
        """Grade who is not done, and return everybody's rows in order.

        However it ends, each student who is done is written, and the class's files have everybody
        with a result in the folder.

        Raises:
            UsageError: in a released copy, or when another run writes to the folder.
            CourseError: when an assignment has no solution.
        """
        self.require_solutions()
        run = self.basis or run_of(self)
        with Journal(self.out, run.identity, self.force) as journal:
            prints = {s.id: fingerprint(s) for s in self.students}
            doing = Doing.of(run, journal, self._about(prints))
            try:
                todo = self._planned(run, prints, doing.rows.keys(), doing.dated.keys(), watcher)
                others = {*doing.rows, *todo}
                known = [s.id for s in self.students if s.id not in others]
                doing.add_known(known, self.jobs)
                watcher.begin(len(self.students), len(doing.rows) + len(doing.waiting))
                for student, outcomes in grade(run.settings, [*todo.values()]) if todo else ():
                    if isinstance(outcomes, str):
                        from grader.grading.worker import undecided_result  # imports torch

                        outcomes = undecided_result(run.settings, student, outcomes)
                    watcher.done(doing.add(student.id, outcomes))
                doing.end()
            finally:
                rows = doing.rows
                result = self._result(run.terms.course, rows, journal)
                result = replace(result, is_written=len(rows) > doing.unchanged)
                if rows:  # a run that could not begin leaves an earlier one's files alone
                    write_class(result, self.out, self.roster)
        return result

    def _about(self, prints: Mapping[str, str]) -> dict[str, About]:
        """What is known of each student before the run: what was handed in, and decided.

        Args:
            prints: what each student handed in.
        """
        times = {student.id: student.times for student in self.students}
        found = {}
        for id_, print_ in prints.items():
            personal, members = self.personal(id_), self.decisions.members(id_)
            shared = ""
            if members or times[id_]:
                shared = shared_digest(members or {"": (id_,)}, prints, times)
            before = self.never_lower.digest(id_) if self.never_lower is not None else ""
            found[id_] = About(print_, personal, members, shared, before, times[id_])
        return found

    def personal(self, student: str) -> Personal:
        """What was decided about a student."""
        enrolled = self.roster.get(student, Enrolled(student))
        return self.decisions.of(self.course, student, enrolled.labels)

    def _planned(
        self,
        run: StudentRun,
        prints: Mapping[str, str],
        done: Collection[str],
        dated: Collection[str],
        watcher: Watcher,
    ) -> dict[str, Student]:
        """Whom to grade and in which assignments, by id; others are done, or only scored.

        Args:
            run: the run.
            prints: what each student handed in.
            done: who is unchanged.
            dated: whose results are new in their dates at most.
            watcher: is told what is graded again, and why.
        """
        plan, todo = Plan(run.terms, known=len(dated)), {}
        for student in self.students:
            if student.id not in done and student.id not in dated:
                ids = plan.add(read_kept(self.out, student.id), prints[student.id])
                plan.known -= not ids and student.id in self.graded
                if ids:
                    is_all = set(ids) == self.course.by_id.keys()
                    todo[student.id] = replace(student, only=() if is_all else ids)
        watcher.planned(plan.sentences())
        return todo

    def _result(self, course: Course, rows: dict[str, Row], journal: Journal) -> ClassResult:
        """This run's rows with those of earlier ones; of students who left, none."""
        ids = {student.id for student in self.students}
        others = journal.earlier(journal.before.keys() - ids)
        left = sorted(others) if self.is_whole and rows else []
        for student in left:
            move_aside(self.out, student)
        kept = journal.earlier(ids - rows.keys()) | ({} if self.is_whole else others)
        to_do = tuple(student.id for student in self.students if student.id not in rows)
        covers = Coverage(self.course.hash, frozenset(kept), to_do)
        found, before = rows | kept, journal.before
        changed = {
            id_: (before[id_].row.score, row.score)
            for id_, row in sorted(rows.items())
            if id_ in before and before[id_].row.score != row.score
        }
        ordered = [found[id_] for id_ in sorted(found)]
        return ClassResult(course, ordered, covers, tuple(left), changed)

    def require_solutions(self) -> None:
        """Raise CourseError when an assignment has no solution, UsageError in a released copy."""
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


def run_of(wanted: ClassRun) -> StudentRun:
    """As a class run and what its folder holds already say."""
    course, out, before = wanted.course, wanted.out, earlier_run(wanted.out)
    seed = wanted.seed or (before.seed if before else new_seed())
    isolation, language = wanted.isolation, current()
    used = {**versions(), "grader": grader_hash()}
    everything = tuple(course.by_id)
    graded = wanted.assignments or everything
    earlier = (before.assignments or everything) if before else ()
    covered = tuple(id_ for id_ in everything if id_ in (*graded, *earlier))
    conditions = {**used, "seed": seed, "isolation": isolation, "language": language}
    run = {WORDS.get(what, f"the {what}"): value for what, value in conditions.items()}
    terms = replace(terms_of(course, covered, graded, run), force=wanted.force)
    return StudentRun(
        out,
        RunSettings(course.root, course.hash, seed, isolation, language),
        RunIdentity(
            *(seed, course.hash, used, isolation, language, covered, terms.but_dates),
            wanted.options,
        ),
        terms,
        ResultMaker(terms.course, seed, terms.declared),
        wanted.never_lower,
    )


WORDS = {"torch": "torch", "python": "Python", KIT_NAME: "the grader's version"}
"""What decides outcomes, where its name is not the word for it."""


def fingerprint(student: Student) -> str:
    """A hash of what a student handed in; never the same where that is unreadable."""
    if student.content:
        return student.content
    if student.path is None and not student.refused:
        return ""
    with suppress(*FAULTS):
        if student.path is not None and not student.refused:
            return read_payload(student.path, student.id).fingerprint
    return f"unreadable {new_seed()}"


def packed(student: Student) -> Payload | Student:
    """A submission as data, for a machine that cannot read it.

    Raises:
        OSError: when a file cannot be read.
    """
    if student.path is None or student.refused:
        return student
    return read_payload(student.path, student.id)


def grade_here(settings: RunSettings, students: Iterable[Student]) -> Done:
    """Grade in this process, one student after the other."""
    with closing(new_worker(settings)) as worker:
        for student in students:
            yield student, worker.outcomes(student)
