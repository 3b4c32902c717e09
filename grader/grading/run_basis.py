"""What a class run grades with: decided once, before the first student."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from grader.core.kit import KIT_NAME
from grader.core.language import current
from grader.core.records import AssignmentResult, Result
from grader.core.versions import grader_hash, versions
from grader.course.course import Course
from grader.feedback.outcomes import summary_line
from grader.grading.class_files import Row, Written, written
from grader.grading.journal import RunIdentity, earlier_run, new_seed
from grader.grading.kept_outcomes import Head, read_kept, write_kept
from grader.grading.personal import Personal
from grader.grading.plan import Terms, terms_of
from grader.grading.redating import redated
from grader.grading.result_maker import ResultMaker
from grader.grading.run_settings import RunSettings
from grader.grading.scoring import is_decided
from grader.submissions.student_folders import Student

PARTLY = "graded in some assignments only"
"""The journal's fingerprint of a student whose other assignments have earlier results."""

WORDS = {"torch": "torch", "python": "Python", KIT_NAME: "the grader's version"}
"""What decides outcomes, where its name is not the word for it."""


class Wanted(Protocol):
    """What was asked of a class run, as `ClassRun` has it."""

    @property
    def out(self) -> Path:
        """The output folder."""

    @property
    def isolation(self) -> str:
        """How student code is kept apart."""

    @property
    def seed(self) -> str | None:
        """Of the hidden inputs, where it was given."""

    @property
    def assignments(self) -> tuple[str, ...]:
        """Those to grade; all where there are none."""

    @property
    def force(self) -> bool:
        """Whether everything is graded again."""

    @property
    def options(self) -> tuple[str, ...]:
        """Those of the command that decide what counts of what was handed in."""


@dataclass(frozen=True, slots=True)
class RunBasis:
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
    def of(course: Course, wanted: Wanted) -> "RunBasis":
        """As it is wanted, and as what the output folder holds already says."""
        out, before = wanted.out, earlier_run(wanted.out)
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
        return RunBasis(
            out,
            RunSettings(course.root, course.hash, seed, isolation, language),
            RunIdentity(
                seed,
                course.hash,
                used,
                isolation,
                language,
                covered,
                but_dates=terms.but_dates,
                options=wanted.options,
            ),
            terms,
            ResultMaker(terms.course, seed, terms.declared),
        )

    def done(
        self,
        student: Student,
        handed_in: str,
        outcomes: Result | None,
        dated: Row | None,
        personal: Personal,
    ) -> tuple[Written, bool]:
        """A student's result, and whether it is of what was handed in now in every assignment.

        Args:
            student: the student.
            handed_in: a fingerprint of what was handed in.
            outcomes: new ones; None where all are known.
            dated: the row that was written, where nothing but dates can have changed since.
            personal: what was decided about the student.
        """
        again = redated(self.terms.course, dated, self.out) if dated else None
        if again is not None:
            return again, True
        kept = before = read_kept(self.out, student.id)
        conditions = self.terms.conditions
        for id_ in self.terms.graded:
            number = kept.find(id_, handed_in, conditions[id_])
            kept = kept if number is None else kept.with_latest(number)
        if outcomes is not None:
            of = dict.fromkeys(conditions, handed_in)
            for head, record in heads_of(self.terms, of, outcomes):
                kept = kept.adding(head, record)
        kept = kept.timed(student.times, self.terms.graded)
        if kept != before:
            write_kept(self.out, student.id, kept)
        result = self.maker.result(student.id, kept, personal)
        is_whole = all(kept.is_latest(id_, handed_in, conditions[id_]) for id_ in conditions)
        return written(result, summary_line(result)), is_whole


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
