"""Results from outcomes: put together over assignments, with the course's present words and points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from grader.core.language import _
from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Mistake,
    Result,
    Visibility,
)
from grader.core.versions import versions
from grader.course.course import Course
from grader.course.misconceptions import read_misconceptions
from grader.grading.deciding import decided
from grader.grading.kept_outcomes import Head, Kept
from grader.grading.personal import NO_DECISIONS, Personal
from grader.grading.scoring import nothing_handed_in

Shown = tuple[int, bool, str]
"""A check's weight, whether it is one of conduct, and its title."""


@dataclass(frozen=True, slots=True)
class ResultMaker:
    """Makes students' results from their outcomes.

    Args:
        course: with the assignments that results have.
        seed: the run's.
        declared: by assignment, a hash of the weights and words that are to be shown.
        checks: by assignment, weights and titles of checks by id, as far as they were asked for.
        mistakes: the same for the words of known mistakes.
    """

    course: Course
    seed: str
    declared: Mapping[str, str]
    checks: dict[str, dict[str, Shown]] = field(default_factory=dict)
    mistakes: dict[str, dict[str, Mistake]] = field(default_factory=dict)

    def result(
        self,
        student: str,
        kept: Kept,
        personal: Personal = NO_DECISIONS,
        by: Mapping[str, str] = {},
    ) -> Result:
        """The scored result of a student's latest outcomes.

        Args:
            student: the student's id.
            kept: outcomes in all of the course's assignments.
            personal: what was decided about the student.
            by: who of the student's group handed in an assignment, where it was not the student.
        """
        numbers = [n for id_ in self.course.by_id if (n := kept.latest(id_)) is not None]
        heads = [kept.heads[number] for number in sorted(numbers)]
        submitted = any(head.submitted for head in heads)
        records = [
            self._of_group(record, by)
            for number in (numbers if submitted else ())
            if (record := self.outcomes(kept, number) or self._nothing(kept.heads[number], by))
        ]
        outcomes = Result(
            student=student,
            score=None,
            max_score=self.course.max_score,
            undecided=False,
            submitted=submitted,
            isolation=next((head.isolation for head in reversed(heads) if head.isolation), ()),
            seed=self.seed,
            versions=versions(),
            course_hash=self.course.hash,
            submission_hash=heads[-1].submission_hash if submitted else "",
            assignments=tuple(records),
            unread=() if submitted or not heads else heads[-1].unread,
        )
        return decided(self.course, outcomes, personal)

    def outcomes(self, kept: Kept, number: int) -> AssignmentResult | None:
        """Outcomes in the course's present words; None where nothing was handed in at all."""
        record = kept.record(number)
        return None if record is None else self._in_present_words(kept.heads[number], record)

    def ask_for(self, kept: Kept) -> None:
        """Ask for the present words where outcomes have others, so that other processes need not."""
        for head in kept.heads:
            if self.declared.get(head.assignment, head.declared) != head.declared:
                self._ask(head.assignment)

    def _nothing(self, head: Head, by: Mapping[str, str]) -> AssignmentResult | None:
        """What a student has in an assignment who handed in nothing but work of a group."""
        return nothing_handed_in(self.course.by_id[head.assignment]) if by else None

    def _of_group(self, outcomes: AssignmentResult, by: Mapping[str, str]) -> AssignmentResult:
        """Outcomes of a group's work; what each attempt earned is said to who handed it in."""
        if outcomes.id not in by:
            return outcomes
        note = _("Handed in by {student} for your group.").format(student=by[outcomes.id])
        notes = (*outcomes.notes, note)
        return replace(outcomes, handed_in_by=by[outcomes.id], notes=notes, attempts=())

    def _in_present_words(self, head: Head, outcomes: AssignmentResult) -> AssignmentResult:
        if head.declared == self.declared[outcomes.id]:
            return outcomes
        if outcomes.id not in self.checks:
            self._ask(outcomes.id)
        exercises = tuple(self._exercise(outcomes.id, one) for one in outcomes.exercises)
        return replace(outcomes, exercises=exercises)

    def _ask(self, id_: str) -> None:
        from grader.checks.collect import collect  # imports torch

        assignment = self.course.by_id[id_]
        found = collect(self.course, [e.id for e in assignment.exercises], tuple(Visibility))
        self.checks[id_] = {
            check.id: (check.weight, check.is_conduct, check.title) for check in found
        }
        self.mistakes[id_] = {
            one.id: replace(
                one.mistake,
                symptom=self.course.text(one.mistake.symptom),
                question=self.course.text(one.mistake.question),
            )
            for one in read_misconceptions(self.course, assignment)
        }

    def _exercise(self, id_: str, outcomes: ExerciseResult) -> ExerciseResult:
        shown = [
            self.checks[id_].get(one.id, (one.weight, one.is_conduct, one.title))
            for one in outcomes.checks
        ]
        mistakes = self.mistakes[id_]
        findings = tuple(
            replace(finding, candidates=tuple(mistakes.get(m.id, m) for m in finding.candidates))
            for finding in outcomes.findings
        )
        checks = _with(outcomes.checks, shown)
        return replace(outcomes, checks=checks, findings=findings)


def _with(checks: Sequence[CheckResult], shown: Sequence[Shown]) -> tuple[CheckResult, ...]:
    """Checks with other weights and titles, which stand in the messages of some, too."""
    titles = {one.title: title for one, (*_, title) in zip(checks, shown, strict=True)}
    changed = []
    for check, (weight, is_conduct, title) in zip(checks, shown, strict=True):
        message = check.message
        for old, new in titles.items():
            message = message.replace(old, new) if old != new else message
        changed.append(
            replace(check, weight=weight, is_conduct=is_conduct, title=title, message=message)
        )
    return tuple(changed)
