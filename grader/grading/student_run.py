"""The results of a run's students, one after the other: made, written, and entered in the journal."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader.core.processes import FEW, spread
from grader.core.records import AssignmentResult, Result
from grader.feedback.outcomes import summary_line
from grader.grading.class_files import Row, Written, write_student, written
from grader.grading.groups import Members, SharedWork
from grader.grading.journal import Journal, RunIdentity
from grader.grading.kept_outcomes import Head, read_kept, write_kept
from grader.grading.never_lower import EarlierResults, not_lower
from grader.grading.personal import Personal
from grader.grading.plan import Terms
from grader.grading.redating import redated
from grader.grading.result_maker import ResultMaker
from grader.grading.run_settings import RunSettings
from grader.grading.scoring import is_decided
from grader.grading.set_aside import set_reports_aside
from grader.submissions.moments import Times

PARTLY = "graded in some assignments only"
"""The journal's fingerprint of a student whose other assignments have earlier results."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a student before the run.

    Args:
        handed_in: a fingerprint of what was handed in.
        personal: what was decided about the student.
        members: by assignment, who belongs to the student's group; nothing without one.
        shared: a hash of the times, and of what the group handed in; "" without these.
        before: a hash of the score that must not fall; "" where it may.
        times: when it was handed in, where something besides the files says so.
    """

    handed_in: str
    personal: Personal
    members: Members
    shared: str = ""
    before: str = ""
    times: Times = ()

    @property
    def decided(self) -> str:
        """A hash of all that decides the score besides outcomes and the course; "" for nothing."""
        return self._decided(self.personal)

    def _decided(self, personal: Personal) -> str:
        return " ".join(filter(None, (personal.digest, self.shared, self.before)))

    def decided_for(self, row: Row, points: Mapping[str, float]) -> str:
        """The same, without what makes no difference where a result is this one.

        Where something is decided for everybody, only those are scored again who may gain or lose.

        Args:
            row: the result.
            points: what each exercise is worth.
        """
        if self.members or self.before:
            return self.decided
        touched = {one.partition(" ")[2] for one in row.decided}
        open_ = {
            id_
            for id_, score in row.exercises.items()
            if id_ in touched or score != points.get(id_)
        }
        return self._decided(self.personal.mattering(open_, is_late=bool(row.days_late)))


@dataclass(slots=True)
class Doing:
    """The students of a run, as they are done.

    Args:
        about: what is known of each before.
        rows: of who is done.
        unchanged: how many were done before the run.
        dated: who has a result that is new in its dates at most.
        waiting: who waits for others of a group, and whether their result will be whole.
    """

    run: "StudentRun"
    journal: Journal
    about: Mapping[str, About]
    rows: dict[str, Row]
    unchanged: int
    dated: Mapping[str, Row]
    waiting: dict[str, bool] = field(default_factory=dict)

    @staticmethod
    def of(run: "StudentRun", journal: Journal, about: Mapping[str, About]) -> "Doing":
        """As the journal says."""
        points = run.points
        rows = {
            id_: row
            for id_, one in about.items()
            if (
                row := journal.unchanged(
                    id_, one.handed_in, partial(one.decided_for, points=points)
                )
            )
        }
        dated = {
            id_: row
            for id_, one in about.items()
            if id_ not in rows
            and (row := journal.unchanged_but_dates(id_, one.handed_in, one.decided))
        }
        return Doing(run, journal, about, rows, len(rows), dated)

    def add(self, student: str, found: Result) -> Row:
        """Write a student's result; of somebody in a group only the outcomes, for now.

        Args:
            student: the student's id.
            found: new outcomes.
        """
        done, is_whole = self.run.done(student, self.about[student], found, self.dated.get(student))
        self._add(student, done, is_whole=is_whole)
        return done.row

    def add_known(self, students: Sequence[str], jobs: int) -> None:
        """The same for students whose outcomes are known, in several processes where they are many."""
        pieces = [(id_, self.about[id_], None, self.dated.get(id_)) for id_ in students]
        if len(pieces) > FEW:
            self.run.maker.ask_for(read_kept(self.run.out, students[0]))
        with closing(spread(self.run.done, pieces, jobs)) as found:
            for student, (done, is_whole) in zip(students, found, strict=True):
                self._add(student, done, is_whole=is_whole)

    def _add(self, student: str, done: Written, *, is_whole: bool) -> None:
        if self.about[student].members:
            self.waiting[student] = is_whole
        else:
            self._keep(student, done, is_whole=is_whole)

    def end(self) -> None:
        """Write the results of groups, when everybody's outcomes are kept."""
        for student, is_whole in self.waiting.items():
            self._keep(student, self.run.shared(student, self.about[student]), is_whole=is_whole)

    def _keep(self, student: str, done: Written, *, is_whole: bool) -> None:
        if len(self.rows) == self.unchanged:
            set_reports_aside(self.run.out)
        about = self.about[student]
        write_student(self.run.out, done)
        handed_in = about.handed_in if is_whole else PARTLY
        self.journal.add(student, handed_in, done.row, about.decided_for(done.row, self.run.points))
        self.rows[student] = done.row


@dataclass(frozen=True, slots=True)
class StudentRun:
    """What a run grades with, and how it makes results.

    Args:
        out: the output folder.
        settings: what workers have to agree on.
        identity: what the journal keeps of the run.
        terms: what outcomes depend on.
        maker: makes results.
        never_lower: an earlier run, whose scores are not to fall.
    """

    out: Path
    settings: RunSettings
    identity: RunIdentity
    terms: Terms
    maker: ResultMaker
    never_lower: EarlierResults | None = None

    @property
    def points(self) -> dict[str, float]:
        """What each exercise is worth."""
        return {id_: exercise.points for id_, exercise in self.terms.course.exercises.items()}

    def done(
        self, student: str, about: About, outcomes: Result | None, dated: Row | None
    ) -> tuple[Written, bool]:
        """A student's result, and whether it is of what was handed in now in every assignment.

        Args:
            student: the student's id.
            about: what was handed in and decided.
            outcomes: new ones; None where all are known.
            dated: the row that was written, where nothing but dates can have changed since.
        """
        handed_in = about.handed_in
        again = redated(self.terms.course, dated, self.out) if dated else None
        if again is not None:
            return again, True
        kept = before = read_kept(self.out, student)
        conditions = self.terms.conditions
        for id_ in self.terms.graded:
            number = kept.find(id_, handed_in, conditions[id_])
            kept = kept if number is None else kept.with_latest(number)
        if outcomes is not None:
            of = dict.fromkeys(conditions, handed_in)
            for head, record in heads_of(self.terms, of, outcomes):
                kept = kept.adding(head, record)
        kept = kept.timed(about.times, self.terms.graded)
        if kept != before:
            write_kept(self.out, student, kept)
        result = self.maker.result(student, kept, about.personal)
        is_whole = all(kept.is_latest(id_, handed_in, conditions[id_]) for id_ in conditions)
        return self._written(result), is_whole

    def shared(self, student: str, about: About) -> Written:
        """The result of a student of a group, when everybody's outcomes are kept.

        Args:
            student: the student's id.
            about: what was decided, and who belongs to the group.
        """
        work = SharedWork(self.out, self.maker)
        return self._written(work.result(student, about.members, about.personal))

    def _written(self, result: Result) -> Written:
        if self.never_lower is not None:
            result = not_lower(result, self.never_lower.result(result.student))
        return written(result, summary_line(result))


def heads_of(
    terms: Terms, handed_in: Mapping[str, str], outcomes: Result
) -> Iterator[tuple[Head, AssignmentResult | None]]:
    """New outcomes as they are kept, by assignment.

    Args:
        terms: what they depend on.
        handed_in: by assignment, a fingerprint of what was handed in.
        outcomes: how the checks ended.
    """
    records = {record.id: record for record in outcomes.assignments}
    for id_ in records or terms.conditions:
        record = records.get(id_)
        at = None if record is None else record.submitted_at
        yield (
            Head(
                assignment=id_,
                handed_in=handed_in[id_],
                conditions=terms.conditions[id_],
                declared=terms.declared[id_],
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
