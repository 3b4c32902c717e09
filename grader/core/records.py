"""The words of the kit as types: outcomes, checks, and the results they add up to."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr

from grader.core.kit import KIT_NAME

RESULT_FORMAT = f"{KIT_NAME}/result/3"


Value = TypeVar("Value")
Points = int | float
"""Points as JSON has them: an integer where they are whole."""


class Record(Struct, frozen=True, gc=False):
    """What a file holds: its fields in their order, under their names.

    Of a record with `omit_defaults`, a file has a field with a default only where there is another
    value, unless the default is said with `always`.
    """


def always(value: Value) -> Value:
    """A default that a file has, too: msgspec does not know a function's answer as the default."""
    return field(default_factory=lambda: value)


def added(points: Iterable[Points]) -> Points:
    """A sum of whole and half points, which is an int where it is whole."""
    value = sum(points)
    return int(value) if value == int(value) else value


class Outcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not_attempted"
    MISSING = "missing"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    REMARK = "remark"
    ERROR = "error"
    NO_TURN = "no_turn"

    @property
    def is_undecided(self) -> bool:
        """Whether nothing was found out: the grader failed, or the code got no turn."""
        return self in UNDECIDED


UNDECIDED = (Outcome.ERROR, Outcome.NO_TURN)
"""How a check ends in which nothing was found out."""


class Visibility(StrEnum):
    """Who sees a check: students and instructors, or instructors alone."""

    VISIBLE = "visible"
    HIDDEN = "hidden"


Number = int | float | str
"""A number that JSON can hold: NaN and the infinities are the texts "nan", "inf" and "-inf"."""

Rows = tuple[tuple[Number, ...], ...]


class Axis(Record, frozen=True):
    """One side of a picture: what its positions stand for.

    Args:
        name: what a position is, like "query"; "" where nothing is known of it.
        start: the position of the first one shown.
        size: how many there are in the whole tensor.
        labels: a word for each one shown, or none at all.
    """

    name: str
    start: int
    size: int
    labels: tuple[str, ...] = ()


class Picture(Record, frozen=True):
    """Two tensors side by side, around the first value in which they differ.

    Args:
        what: what was compared, in words.
        expected: at most `MOST_SHOWN` rows of as many numbers; a vector is a single row.
        differs: which of them differ.
        first: row and column of the first difference, among those shown.
        slice: name and position of each axis before those two, like ("batch entry", 0).
        source: where the expected values are printed, "" when they are computed.
        lines: the lines of the message that show the same as text: the first, and the one after
            the last.
    """

    what: str
    expected: Rows
    received: Rows
    differs: tuple[tuple[bool, ...], ...]
    first: tuple[int, int]
    rows: Axis
    columns: Axis
    slice: tuple[tuple[str, int], ...] = ()
    source: str = ""
    lines: tuple[int, int] = (0, 0)


class CodeLocation(Record, frozen=True):
    """A line of the student's own.

    Args:
        file: the path inside the submission, with `/`.
        line: counted from 1; in a notebook, inside the cell.
        cell: the notebook's cell, counted from 1; None in a script.
    """

    file: str
    line: int
    cell: int | None = None


class CheckResult(Record, frozen=True, omit_defaults=True):
    """One check's outcome.

    Args:
        id: `<exercise id>::<visibility>::<name>`.
        title: the sentence that holds when the check passes (its docstring).
        weight: its share of the exercise's points; 0 for a remark.
        message: what the student reads; empty when the check passed.
        duration_s: seconds.
        where: the line it is about, where one is known; None when the check passed.
        picture: expected and received side by side, where two tensors of a shape differ.
        waits_for: the id of the exercise that has to be written first, where it is blocked by one.
        raised: type and message of the exception of the student's that kept it from judging.
        may_follow: whether it may fail for nothing but what an earlier check fails for, so that
            what its title says may hold.
        is_conduct: whether it counts only as far as values are right.
        blocked_by: the id of the check that has to pass before this one is run, where one has.
        reason: the lines of the message that say what is wrong, without the request and what was
            printed: the first, and the one after the last. No file has it.
        broke_off: whether a request failed, so that nothing was judged. No file has it.
    """

    id: str
    title: str
    visibility: Visibility
    weight: int
    outcome: Outcome
    message: str
    duration_s: float
    picture: Picture | None = None
    where: CodeLocation | None = None
    waits_for: str = ""
    raised: str = ""
    may_follow: bool = False
    is_conduct: bool = field(default=False, name="conduct")
    reason: tuple[int, int] | None = None
    broke_off: bool = False
    blocked_by: str = ""


class MistakeKind(StrEnum):
    """How far a mistake is from what is right, which decides what it leaves of the points.

    Of a slip all steps are there and a detail is wrong; then a step is missing, too many
    or in the wrong place; then something else is computed.
    """

    SLIP = "slip"
    STEP = "step"
    IDEA = "idea"


class Mistake(Record, frozen=True):
    """A known mistake as people read of it.

    Args:
        symptom: what goes wrong, in a sentence.
        question: one question that leads out of it.
    """

    id: str
    symptom: str
    question: str
    kind: MistakeKind = MistakeKind.SLIP


class Finding(Record, frozen=True, omit_defaults=True):
    """One mistake that was recognised: certain, or one of several that look the same here.

    Args:
        is_partial: whether something else is wrong as well.
    """

    candidates: tuple[Mistake, ...] = field(name="one_of")
    is_partial: bool = field(default=False, name="partial")


def gravest_kind(findings: Iterable[Finding]) -> MistakeKind | None:
    """The kind of the gravest mistake that is certain; None where none was recognised.

    Of mistakes that look the same, the mildest counts.
    """
    order = [*MistakeKind]
    kinds = [min((m.kind for m in f.candidates), key=order.index) for f in findings]
    return max(kinds, key=order.index, default=None)


class DecisionKind(StrEnum):
    """What instructors decided of an exercise of a student's.

    Its points were given by a person, it does not count for the student, or one of its checks does
    not count or counts as passed for everybody.
    """

    OVERRIDE = "override"
    EXEMPTION = "exemption"
    CHECK = "check"


class Decision(Record, frozen=True):
    """What instructors decided of an exercise.

    Args:
        automatic: the score by its checks alone; None where that is undecided.
        dropped: the ids of its checks that do not count.
        given: the ids of those that count as passed.
    """

    kind: DecisionKind
    automatic: Decimal | None
    dropped: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


class ExerciseResult(Record, frozen=True, omit_defaults=True):
    """One exercise's score.

    Args:
        score: None when it is undecided or nothing was handed in.
        decision: what instructors decided of it, where the score is not that of the checks alone.
        defined: the definition that was judged, where one was found.
        judged_with: the names of exercises that it builds on and that are wrong: it was judged with
            right ones in their place.
        to_judge_with: those with which it is judged where it is graded.
        may_come_from: those of earlier assignments that its code uses and that are wrong, where it
            has not all its points.
        uses: the ids of all those that its code uses, where it is not right.
        misconceptions: the names of the mistakes that are certain, which its findings tell.
    """

    id: str
    score: Decimal | None
    max_score: Points
    decision: Decision | None = None
    defined: CodeLocation | None = None
    judged_with: tuple[str, ...] = ()
    to_judge_with: tuple[str, ...] = ()
    may_come_from: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = always(())
    findings: tuple[Finding, ...] = always(())
    checks: tuple[CheckResult, ...] = always(())

    def __post_init__(self) -> None:
        certain = (f.candidates[0].id for f in self.findings if len(f.candidates) == 1)
        force_setattr(self, "misconceptions", tuple(certain))

    @property
    def name(self) -> str:
        """The name a student writes, without the assignment."""
        return self.id.partition("/")[2]

    @property
    def undecided(self) -> bool:
        """Whether one of the checks could not be judged."""
        return self.score is None and bool(self.checks)

    @property
    def is_missing(self) -> bool:
        """Whether nothing was handed in for it, and nobody gave points."""
        return self.score is None and not self.checks

    @property
    def had_no_turn(self) -> bool:
        """Whether it is undecided because the computer was busy, and for nothing else."""
        ends = {check.outcome for check in self.checks}
        return self.undecided and Outcome.NO_TURN in ends and Outcome.ERROR not in ends

    @property
    def is_exempt(self) -> bool:
        """Whether it does not count for the student."""
        return self.decision is not None and self.decision.kind is DecisionKind.EXEMPTION

    @property
    def counts(self) -> bool:
        """Whether it has a score, or is undecided."""
        return not self.is_missing and not self.is_exempt

    @property
    def is_solved(self) -> bool:
        """Whether it has its full score; where it is worth nothing, whether its checks passed."""
        if not self.counts:
            return False
        if self.undecided or self.max_score:
            return not self.undecided and self.score == self.max_score
        return all(check.outcome is Outcome.PASSED for check in self.checks if check.weight)

    @property
    def is_untouched(self) -> bool:
        """Whether it was left as it was handed out, or not handed in at all."""
        empty = (Outcome.NOT_ATTEMPTED, Outcome.MISSING)
        if not self.checks or self.checks[0].outcome not in empty:
            return False
        # Of a class whose `forward` is open, `__init__` may be written and judged.
        return all(check.outcome in (*empty, Outcome.BLOCKED) for check in self.checks)

    @property
    def waits_for(self) -> str:
        """The exercise that has to be written first, by its name or, elsewhere, its id."""
        id_ = next((check.waits_for for check in self.checks if check.waits_for), "")
        return id_.removeprefix(f"{self.id.partition('/')[0]}/")


class AttemptScore(Record, frozen=True):
    """What an assignment earned each time it was handed in.

    Args:
        at: when, in ISO's form.
        score: after what lateness takes off; None when it is undecided.
        days_late: days begun after the due date.
        counts: whether the assignment's score, or a part of it, is of this attempt.
        exercises: the score of each exercise, without lateness, by id.
        tried: the ids of exercises that were not left as they were handed out.
    """

    at: str
    score: Decimal | None
    days_late: int
    counts: bool
    exercises: Mapping[str, Decimal | None]
    tried: tuple[str, ...] = ()


class AssignmentResult(Record, frozen=True, omit_defaults=True):
    """One assignment's score.

    Args:
        read_from: the file that was read for it, "" for nothing.
        score: in points; None when it is undecided or nothing was handed in.
        days_late: days begun after the due date.
        late_days_used: how many of the days late cost nothing, because the student had them.
        time_source: where the time it was handed in is known from; "" for nbgrader's timestamp, and
            for no time.
        notes: sentences for everybody who reads this result.
        handed_in_by: who of the student's group handed it in, "" for the student.
        attempts: each time it was handed in, where that is known, the first one first.
        ignored: sentences on what was handed in for it and does not count.
        file_failures: sentences about a file that does not run.
        defects: those of the notes that say what nbgrader would stumble over. No file has them apart
            from the notes.
        submitted_at: when it was handed in, where that is known. No file has it.
    """

    id: str
    read_from: str
    score: Decimal | None
    max_score: Points
    days_late: int = always(0)
    late_days_used: int = 0
    time_source: str = ""
    notes: tuple[str, ...] = always(())
    handed_in_by: str = ""
    attempts: tuple[AttemptScore, ...] = ()
    ignored: tuple[str, ...] = ()
    file_failures: tuple[str, ...] = ()
    exercises: tuple[ExerciseResult, ...] = always(())
    defects: tuple[str, ...] = ()
    submitted_at: datetime | None = None

    @property
    def is_missing(self) -> bool:
        """Whether nothing was handed in for it, and nobody gave points: it has no score."""
        without = [e for e in self.exercises if not e.is_exempt]
        return bool(without) and all(e.is_missing for e in without)

    @property
    def counts(self) -> bool:
        """Whether it has a score, or is undecided."""
        return not self.is_missing and not self.is_exempt

    @property
    def is_exempt(self) -> bool:
        """Whether none of its exercises counts for the student."""
        return bool(self.exercises) and all(e.is_exempt for e in self.exercises)

    @property
    def counting(self) -> tuple[ExerciseResult, ...]:
        """Its exercises that have a score, or are undecided."""
        return tuple(exercise for exercise in self.exercises if exercise.counts)

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The checks of all its exercises."""
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """The names of the mistakes that are certain, each once."""
        return tuple(dict.fromkeys(name for e in self.exercises for name in e.misconceptions))


class Result(Record, frozen=True, omit_defaults=True, tag_field="format", tag=RESULT_FORMAT):
    """Everything one run found out about one student.

    Args:
        unread: files that were handed in, where none of them could be read as work.
        decided: what instructors decided about this student, and about what.
        automatic: the score without that.
    """

    student: str
    score: Decimal | None
    max_score: Points
    undecided: bool
    submitted: bool
    isolation: tuple[str, ...]
    seed: str
    versions: dict[str, str]
    course_hash: str
    submission_hash: str
    assignments: tuple[AssignmentResult, ...]
    unread: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    automatic: Decimal | None = None

    @property
    def exercises(self) -> tuple[ExerciseResult, ...]:
        """The exercises of all assignments."""
        return tuple(exercise for part in self.assignments for exercise in part.exercises)

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The checks of all assignments."""
        return tuple(check for part in self.assignments for check in part.checks)

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """The names of the mistakes that are certain, each once."""
        return tuple(dict.fromkeys(n for part in self.assignments for n in part.misconceptions))

    @property
    def is_exempt(self) -> bool:
        """Whether none of its assignments counts for the student."""
        return bool(self.assignments) and all(part.is_exempt for part in self.assignments)

    @property
    def had_no_turn(self) -> bool:
        """Whether it is undecided because the computer was busy, and for nothing else."""
        is_judged = all(part.exercises or part.score is not None for part in self.assignments)
        undecided = [exercise for exercise in self.exercises if exercise.undecided]
        return is_judged and bool(undecided) and all(e.had_no_turn for e in undecided)

    @property
    def days_late(self) -> int:
        """Of the latest assignment."""
        return max((part.days_late for part in self.assignments), default=0)
