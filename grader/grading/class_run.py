"""A class run: who is still to be graded, by whom, and everything written as it comes."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from grader.core.errors import CourseError
from grader.core.kit import KIT_NAME
from grader.core.language import current
from grader.core.records import AssignmentResult, Result
from grader.core.versions import grader_hash, versions
from grader.course.course import MANIFEST, Course
from grader.feedback.outcomes import summary_line
from grader.grading.class_files import (
    ClassResult,
    Coverage,
    Row,
    Written,
    write_class,
    write_student,
    written,
)
from grader.grading.decisions import NONE, Decisions
from grader.grading.groups import Members, SharedWork, shared_digest
from grader.grading.journal import Journal, RunIdentity, earlier_run, new_seed
from grader.grading.kept_outcomes import Head, read_kept, write_kept
from grader.grading.personal import Personal
from grader.grading.plan import Plan, Terms, terms_of
from grader.grading.redating import redated
from grader.grading.result_maker import ResultMaker
from grader.grading.run_settings import RunSettings
from grader.grading.scoring import is_decided
from grader.grading.set_aside import move_aside, set_reports_aside
from grader.grading.workers import new_worker
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

    def carry_out(self, grade: Grade, watcher: Watcher) -> ClassResult:
        """Grade who is not done, and return everybody's rows in order.

        However it ends, each student who is done is written, and the class's files have everybody
        with a result in the folder.

        Raises:
            UsageError: in a released copy, or when another run writes to the folder.
            CourseError: when an assignment has no solution.
        """
        self._require_solutions()
        run = _Run.of(self)
        with Journal(self.out, run.identity, self.force) as journal:
            prints = {s.id: fingerprint(s) for s in self.students}
            personal = {id_: self._personal(id_) for id_ in prints}
            members = {id_: found for id_ in prints if (found := self.decisions.members(id_))}
            decided = {
                id_: shared_digest(one, members[id_], prints) if id_ in members else one.digest
                for id_, one in personal.items()
            }
            rows = {
                id_: row
                for id_ in prints
                if (row := journal.unchanged(id_, prints[id_], decided[id_]))
            }
            unchanged = len(rows)
            dated = {
                id_: row
                for id_ in prints.keys() - rows.keys()
                if (row := journal.unchanged_but_dates(id_, prints[id_], decided[id_]))
            }

            waiting: dict[str, bool] = {}

            def write(student: Student, found: Result | None) -> Row:
                id_ = student.id
                done, is_whole = run.done(id_, prints[id_], found, dated.get(id_), personal[id_])
                if id_ in members:  # written when everybody of the group is done
                    waiting[id_] = is_whole
                    return done.row
                return keep(id_, done, is_whole=is_whole)

            def keep(id_: str, done: Written, *, is_whole: bool) -> Row:
                if len(rows) == unchanged:
                    set_reports_aside(self.out)
                write_student(self.out, done)
                journal.add(id_, prints[id_] if is_whole else PARTLY, done.row, decided[id_])
                rows[id_] = done.row
                return done.row

            try:
                todo = self._planned(run, prints, rows.keys(), dated.keys(), watcher)
                for student in self.students:
                    if student.id not in rows and student.id not in todo:
                        write(student, None)
                watcher.begin(len(self.students), len(rows))
                for student, outcomes in grade(run.settings, [*todo.values()]) if todo else ():
                    if isinstance(outcomes, str):
                        from grader.grading.worker import undecided_result  # imports torch

                        outcomes = undecided_result(run.settings, student, outcomes)
                    watcher.done(write(student, outcomes))
                for id_, is_whole in waiting.items():
                    keep(id_, run.shared(id_, members[id_], personal[id_]), is_whole=is_whole)
            finally:
                result = self._result(run.terms.course, rows, journal)
                result = replace(result, is_written=len(rows) > unchanged)
                if rows:  # a run that could not begin leaves an earlier one's files alone
                    write_class(result, self.out, self.roster)
        return result

    def _personal(self, student: str) -> Personal:
        """What was decided about a student."""
        enrolled = self.roster.get(student, Enrolled(student))
        return self.decisions.of(self.course, student, enrolled.labels)

    def _planned(
        self,
        run: "_Run",
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


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run grades with, and how it makes results.

    Args:
        out: the output folder.
        settings: what workers have to agree on.
        identity: what the journal keeps of the run.
        terms: what outcomes depend on.
        maker: makes results.
    """

    out: Path
    settings: RunSettings
    identity: RunIdentity
    terms: Terms
    maker: ResultMaker

    @staticmethod
    def of(wanted: ClassRun) -> "_Run":
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
        return _Run(
            out,
            RunSettings(course.root, course.hash, seed, isolation, language),
            RunIdentity(
                seed, course.hash, used, isolation, language, covered, but_dates=terms.but_dates
            ),
            terms,
            ResultMaker(terms.course, seed, terms.declared),
        )

    def done(
        self,
        student: str,
        handed_in: str,
        outcomes: Result | None,
        dated: Row | None,
        personal: Personal,
    ) -> tuple[Written, bool]:
        """A student's result, and whether it is of what was handed in now in every assignment.

        Args:
            student: the student's id.
            handed_in: a fingerprint of what was handed in.
            outcomes: new ones; None where all are known.
            dated: the row that was written, where nothing but dates can have changed since.
            personal: what was decided about the student.
        """
        again = redated(self.terms.course, dated, self.out) if dated else None
        if again is not None:
            return again, True
        kept = before = read_kept(self.out, student)
        conditions = self.terms.conditions
        for id_ in self.terms.graded:
            number = kept.find(id_, handed_in, conditions[id_])
            kept = kept if number is None else kept.with_latest(number)
        if outcomes is not None:
            for head, record in self._new(handed_in, outcomes):
                kept = kept.adding(head, record)
        if kept != before:
            write_kept(self.out, student, kept)
        result = self.maker.result(student, kept, personal)
        is_whole = all(kept.is_latest(id_, handed_in, conditions[id_]) for id_ in conditions)
        return written(result, summary_line(result)), is_whole

    def shared(self, student: str, members: Members, personal: Personal) -> Written:
        """The result of a student of a group, when everybody's outcomes are kept.

        Args:
            student: the student's id.
            members: who belongs to the group.
            personal: what was decided about the student.
        """
        result = SharedWork(self.out, self.maker).result(student, members, personal)
        return written(result, summary_line(result))

    def _new(
        self, handed_in: str, outcomes: Result
    ) -> Iterator[tuple[Head, AssignmentResult | None]]:
        """New outcomes as they are kept, by assignment."""
        records = {record.id: record for record in outcomes.assignments}
        for id_ in records or self.terms.conditions:
            record = records.get(id_)
            at = None if record is None else record.submitted_at
            yield (
                Head(
                    assignment=id_,
                    handed_in=handed_in,
                    conditions=self.terms.conditions[id_],
                    declared=self.terms.declared[id_],
                    is_decided=record is None or is_decided(record),
                    submitted=outcomes.submitted,
                    has_record=record is not None,
                    submission_hash=outcomes.submission_hash,
                    isolation=outcomes.isolation,
                    unread=outcomes.unread,
                    defects=() if record is None else record.defects,
                    submitted_at=at.isoformat() if at else "",
                ),
                record,
            )


PARTLY = "graded in some assignments only"
"""The journal's fingerprint of a student whose other assignments have earlier results."""

WORDS = {"torch": "torch", "python": "Python", KIT_NAME: "the grader's version"}
"""What decides outcomes, where its name is not the word for it."""


def fingerprint(student: Student) -> str:
    """A hash of what a student handed in; never the same where that is unreadable."""
    if student.path is None:
        return ""
    try:
        return read_payload(student.path, student.id).fingerprint
    except OSError:
        return f"unreadable {new_seed()}"


def packed(student: Student) -> Payload | Student:
    """A submission as data, for a machine that cannot read it.

    Raises:
        OSError: when a file cannot be read.
    """
    if student.path is None:
        return student
    return read_payload(student.path, student.id)


def grade_here(settings: RunSettings, students: Iterable[Student]) -> Done:
    """Grade in this process, one student after the other."""
    with closing(new_worker(settings)) as worker:
        for student in students:
            yield student, worker.outcomes(student)
