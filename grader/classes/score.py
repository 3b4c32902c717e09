"""Scores: a pure function of the course, decisions, outcomes, and what was given before.

No student code is run here, nothing is read and nothing is remembered.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from msgspec.structs import replace

from grader.classes.deciding import Deciding, Policy, commented, counting, decided
from grader.classes.decisions import NO_DECISIONS, Personal
from grader.classes.outcomes import Words, unpacked
from grader.classes.store import Use, Uses
from grader.core.kit import versions
from grader.core.language import _
from grader.core.records import AssignmentResult, Result, added
from grader.core.text import hash_of
from grader.course.course import Course
from grader.judging.results import has_something, parsed, points
from grader.judging.scoring import is_undecided, nothing_handed_in, score_of, scored_alone


def not_lower(now: Result, earlier: Result | None) -> Result:
    """A result in which no assignment has fewer points than before.

    What is undecided stays so, and an assignment that is worth other points now is as it is now.

    Args:
        now: the new result.
        earlier: the one before; None where there is none.
    """
    if earlier is None or not earlier.submitted:
        return now
    found = {one.id: one for one in now.assignments}
    kept = {
        one.id: _kept(one)
        for one in earlier.assignments
        if _is_better(one, found.get(one.id), is_submitted=now.submitted)
    }
    if not kept:
        return now
    everything = earlier.assignments if not now.submitted else now.assignments
    assignments = tuple(kept.get(one.id, one) for one in everything)
    return replace(
        now,
        score=score_of(assignments),
        max_score=added(one.max_score for one in assignments),
        undecided=is_undecided(assignments),
        submitted=True,
        assignments=assignments,
        decided=(*now.decided, *(f"kept {id_}" for id_ in kept)),
        automatic=now.automatic if now.decided else now.score,
    )


def _is_better(
    earlier: AssignmentResult, now: AssignmentResult | None, *, is_submitted: bool
) -> bool:
    if earlier.score is None or not earlier.counts:
        return False
    if now is None or now.is_missing:
        return now is not None or not is_submitted
    is_worth_the_same = earlier.max_score == now.max_score
    return is_worth_the_same and now.score is not None and earlier.score > now.score


def _kept(earlier: AssignmentResult) -> AssignmentResult:
    note = _("The score of an earlier run is kept, because it is higher.")
    if note in earlier.notes:
        return earlier
    return replace(earlier, notes=(*earlier.notes, note))


Tries = dict[str, list[AssignmentResult]]
"""Each time that something was handed in, by assignment: exercises have the scores of their checks."""


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What one student handed in, with the outcomes of it.

    Args:
        student: the student's id.
        uses: the outcome of each time, by assignment.
        records: the outcomes as they are stored, by key.
        personal: what was decided about the student.
    """

    student: str
    uses: Uses
    records: Mapping[bytes, bytes]
    personal: Personal = NO_DECISIONS


@dataclass(frozen=True, slots=True)
class StudentInputs:
    """All that decides one student's result, besides the course.

    Args:
        own: what the student handed in.
        group: what the others of a group handed in.
        members: by assignment, everybody of the student's group, by name.
        unread: files that were handed in, where none could be read as work.
        earlier: the record that the score must not fall below; None where there is none.
    """

    own: HandedIn
    group: Mapping[str, HandedIn] = field(default_factory=dict)
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    earlier: bytes | None = None


@dataclass(frozen=True, slots=True)
class Scorer:
    """Makes results of outcomes.

    Args:
        course: with the assignments that results have.
        words: titles, weights and sentences of the course.
        policy: which of several attempts counts.
        seed: of the hidden inputs.
    """

    course: Course
    words: Words
    policy: Policy
    seed: str

    def result(self, inputs: StudentInputs) -> Result:
        """A student's result."""
        tries, by = self.tries(inputs.own), dict[str, str]()
        own = self.counting(tries, inputs.own)
        is_alone = bool(own)
        group = {n: self.counting(self.tries(work), work) for n, work in inputs.group.items()}
        for id_, names in inputs.members.items():
            if id_ in self.course.by_id:
                others = {name: group[name].get(id_) for name in names if name in group}
                best, found = self._of_group(inputs.own, others, own.get(id_))
                if best != inputs.own.student and found is not None:
                    own[id_], by[id_] = self._shared(found, best, own.get(id_)), best
        parts = tuple(own[id_] for id_ in self.course.by_id if id_ in own)
        parts = without_others_files(parts)
        is_submitted = any(not part.is_missing for part in parts)
        known = {part.id: part for part in parts}
        everything = tuple(known.get(a.id) or nothing_handed_in(a) for a in self.course.assignments)
        outcomes = Result(
            student=inputs.own.student,
            score=None,
            max_score=self.course.max_score,
            undecided=False,
            submitted=is_submitted,
            isolation=_isolation(inputs, by),
            seed=self.seed,
            versions=versions(),
            course_hash=self.course.hash,
            submission_hash=_hash_of(inputs.own.uses) if is_submitted else "",
            assignments=everything if is_submitted else (),
            unread=() if is_submitted else inputs.unread,
        )
        result = decided(self.course, outcomes, inputs.own.personal)
        if by:
            result = replace(result, decided=(*result.decided, *(f"group {id_}" for id_ in by)))
        if by or (result.decided and is_alone):
            result = replace(result, automatic=self._automatic(tries, inputs.own))
        if inputs.earlier is not None:
            result = not_lower(result, parsed(inputs.earlier))
        return commented(result, inputs.own.personal)

    def _automatic(self, tries: Tries, work: HandedIn) -> Decimal | None:
        """What a student's own work has where nothing is decided, also about which attempt counts."""
        own = self.counting(tries, dataclasses.replace(work, personal=NO_DECISIONS))
        parts = without_others_files(tuple(own[id_] for id_ in self.course.by_id if id_ in own))
        return score_of(scored_alone(self.course, part) for part in parts)

    def tries(self, work: HandedIn) -> Tries:
        """What a student's hand-ins gave, by assignment."""
        return {
            id_: [self._try(use, work) for use in uses]
            for id_, uses in work.uses.items()
            if id_ in self.course.by_id and uses
        }

    def counting(self, tries: Tries, work: HandedIn) -> dict[str, AssignmentResult]:
        """What counts of them, by assignment."""
        attempts = {id_: tries[id_] for id_ in tries if work.uses[id_][0].number}
        found = {id_: tries[id_][0] for id_ in tries.keys() - attempts.keys()}
        if attempts:
            counted = counting(self.course, attempts, self.policy, work.personal)
            found |= {part.id: part for part in counted}
        return found

    def _try(self, use: Use, work: HandedIn) -> AssignmentResult:
        record = self.words.result(unpacked(work.records[use.key]))
        if use.at and record.read_from:
            at = datetime.fromisoformat(use.at)
            record = replace(record, submitted_at=at, time_source=use.source)
        return record

    # Groups.

    def _of_group(
        self,
        work: HandedIn,
        others: Mapping[str, AssignmentResult | None],
        own: AssignmentResult | None,
    ) -> tuple[str, AssignmentResult | None]:
        """Of a group's submissions the one with most points by the student's dates, and whose it is.

        Where it makes no difference, a student's own work stays, else the first name's.
        """
        found = {work.student: own, **others}
        order = sorted(found, key=lambda name: (name != work.student, name))
        deciding = Deciding(self.course, dataclasses.replace(work.personal, late_days=None))
        best = max(order, key=lambda name: _worth(found[name], deciding))
        return best, found[best]

    def _shared(
        self, part: AssignmentResult, by: str, own: AssignmentResult | None
    ) -> AssignmentResult:
        """A group's work; what each attempt earned is said to who handed it in."""
        notes = [_("Handed in by {student} for your group.").format(student=by)]
        before = (
            {} if own is None else {e.id: e.score for e in scored_alone(self.course, own).exercises}
        )
        for exercise in scored_alone(self.course, part).exercises:
            score = before.get(exercise.id)
            if score is not None and exercise.score is not None and score > exercise.score:
                note = _(
                    "{exercise}: your own work had more points here ({points}); the group's counts."
                )
                notes.append(note.format(exercise=exercise.name, points=points(score)))
        return replace(part, handed_in_by=by, notes=(*part.notes, *notes), attempts=())


def _worth(part: AssignmentResult | None, deciding: Deciding) -> tuple[bool, Decimal]:
    """Whether anything was handed in for an assignment, and the points that it has.

    What is undecided is worth most, so that nobody overlooks it.
    """
    if part is None or part.is_missing:
        return False, Decimal(0)
    (found,) = deciding.assignments([part])
    return True, Decimal("Infinity") if found.score is None else found.score


def without_others_files(parts: Sequence[AssignmentResult]) -> tuple[AssignmentResult, ...]:
    """The same, but a file is not read for an assignment of which it defines nothing if it defines some of another.

    One file may be handed in for several: it counts for those of which it defines anything, and
    for all where it defines nothing at all.
    """
    judged = {
        part.id: has_something(part) for part in parts if any(e.checks for e in part.exercises)
    }
    telling = {part.read_from for part in parts if judged.get(part.id)}
    return tuple(
        _missing(part) if part.read_from in telling and judged.get(part.id) is False else part
        for part in parts
    )


def _missing(part: AssignmentResult) -> AssignmentResult:
    exercises = tuple(replace(e, score=None, checks=(), findings=()) for e in part.exercises)
    return replace(part, read_from="", exercises=exercises)


def _isolation(inputs: StudentInputs, by: Mapping[str, str]) -> tuple[str, ...]:
    """The layers around the student's code, or around that of the group."""
    works = (inputs.own, *(inputs.group[name] for name in dict.fromkeys(by.values())))
    keys = ((work, use.key) for work in works for uses in work.uses.values() for use in uses)
    layers = (unpacked(work.records[key]).isolation for work, key in keys)
    return next(filter(None, layers), ())


def _hash_of(uses: Uses) -> str:
    """A hash of the work that counts: the last files of each assignment."""
    return hash_of(repr(sorted((id_, found[-1].work) for id_, found in uses.items() if found)))
