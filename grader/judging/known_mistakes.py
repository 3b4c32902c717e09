"""The known mistakes: how each check goes with each of them, worked out once per worker.

Many were learned from students, so that they run as a student's code does: in a process that is
sealed where this machine can seal. Those of an exercise run in one, in turn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Protocol

from grader.core.errors import NoProcessFault
from grader.core.kept import found, keep, one_at_a_time
from grader.core.records import Finding, Mistake, Outcome, Visibility
from grader.course.course import Exercise
from grader.course.misconceptions import Misconception, all_misconceptions, edited
from grader.course.outcome_parts import everything_of
from grader.judging import seal_probe
from grader.judging.consequences import is_of_shape
from grader.judging.diagnosis import BROKEN, Known, Trace, Traces, diagnose, fingerprint
from grader.judging.fixtures import CheckEnvironment, Fixtures, read_solutions
from grader.judging.outcomes import UNJUDGED
from grader.judging.recordings import read_known, write_known
from grader.judging.run import Check, CheckRecord, outcome_of
from grader.sandbox.torch_later import is_tensor
from grader.sessions.base import Session
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission
from grader.testing.compare import Difference, wrong_values
from grader.testing.judge import Mismatch
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure
from grader.testing.student import NotJudged, StudentOutcome

Checks = tuple[Check, ...]
Group = tuple[Misconception, ...]

MOST_KEPT = 1024
"""Files of known mistakes that are kept: an exercise of a class has one or two."""

RAISED = re.compile(r"(?:^|:\s*)raise\b")
"""A line that raises, after an `if` or by itself."""

TRIES = 2
"""How often a known mistake is run where the machine has no process, or no time, for it."""

ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")


class KnownMistakes(Protocol):
    """How the checks of an exercise go with its known mistakes."""

    def known(self, exercise: Exercise, checks: Checks, size: int) -> list[Known]:
        """How checks of an exercise go with each combination of its mistakes.

        Args:
            exercise: the exercise.
            checks: its checks; there may be none.
            size: how many mistakes at a time, one or two.
        """

    def stand_in(
        self, exercise: Exercise, mistakes: Sequence[str], submission: SubmissionHandle
    ) -> AbstractContextManager[SubmissionHandle | None]:
        """What gives what the student's gives, as far as known mistakes explain it; None for nothing.

        Args:
            exercise: whose mistakes.
            mistakes: their ids, all that were recognised in it.
            submission: in which they were recognised.
        """


def trace(record: CheckRecord) -> Trace:
    """How a check ended and what it judged, in the form that diagnosis compares."""
    error, is_evidence = record.raised, True
    if error is None:
        end = "passed"
    elif isinstance(error, StudentOutcome):
        end = _failure_end(error.failure)
    elif isinstance(error, AssertionError):
        end = "mismatch"
        is_evidence = not isinstance(error, Mismatch) or _is_finite(error.difference)
    else:
        end = BROKEN
    judged = tuple(fingerprint(value) for value in record.judged)
    replied = tuple(fingerprint(value) for value in record.replied)
    return Trace(end, judged, is_evidence and record.is_evidence, replied)


def _failure_end(failure: Failure) -> str:
    """The kind of a failure; of an exception all that it says, unless a `raise` of the student's did.

    torch's messages name the operation and the shapes that it was given, so two that are equal
    failed in the same way. Another version may word them differently: then nothing is recognised.
    """
    where = "own" if failure.own else "below"
    if failure.kind != "exception":
        return f"{failure.kind} {where}"
    line = failure.location.text if failure.location else ""
    if failure.own and RAISED.search(line):
        return f"exception {where} {failure.type}"
    stands = f" {failure.meant}" if failure.wrote == "forward" else ""
    return f"exception {where} {failure.type}: {ADDRESS.sub('0x', failure.message)}{stands}"


def _is_finite(difference: Difference) -> bool:
    """Whether a finite value differs: many mistakes end in NaN or an infinity."""
    actual, expected = difference.actual, difference.expected
    if isinstance(actual, float):
        return math.isfinite(actual)
    if not is_tensor(actual) or not actual.numel():
        return True
    finite = actual.isfinite()
    is_like = is_tensor(expected) and expected.dtype == actual.dtype
    if is_like and expected.shape == actual.shape:
        finite &= wrong_values(actual, expected, difference.atol, difference.rtol)
    return bool(finite.any())


def traces(records: Iterable[CheckRecord]) -> dict[str, Trace]:
    """The traces of several checks by id, without remarks: they are no sign of a mistake."""
    return {c.check.id: trace(c) for c in records if not c.check.is_remark}


@dataclass(slots=True)
class RecordedMistakes:
    """Known mistakes from recordings, for students: what the visible checks judged with each."""

    recorded: Mapping[str, tuple[list[Known], list[Known]]]

    def known(self, exercise: Exercise, checks: Checks, size: int) -> list[Known]:
        """As recorded.

        Args:
            exercise: whose mistakes.
            checks: the checks that ran; a recording has the visible ones.
            size: 1 for each mistake by itself, 2 for two at once.
        """
        return self.recorded.get(exercise.id, ([], []))[size - 1]

    @contextmanager
    def stand_in(
        self, exercise: Exercise, mistakes: Sequence[str], submission: SubmissionHandle
    ) -> Iterator[SubmissionHandle | None]:
        """The student's own, in another process: where there are recordings, there is no solution."""
        del exercise, mistakes
        apart = submission.apart()
        try:
            yield replace(apart, stand_ins={})
        finally:
            if apart is not submission:
                apart.session.close()


@dataclass(slots=True)
class TracesOnDemand(Mapping[str, Trace]):
    """How visible checks go with a mistake, and hidden ones: these run when one is asked for.

    Of most mistakes a visible check says already that a student has not made them.

    Args:
        hidden: the ids of the hidden checks.
        run: runs those.
    """

    visible: Traces
    hidden: frozenset[str]
    run: Callable[[], Traces]
    ran: Traces | None = None

    def _ran(self) -> Traces:
        if self.ran is None:
            self.ran = self.run()
        return self.ran

    def __getitem__(self, check: str) -> Trace:
        """How a check goes.

        Raises:
            KeyError: where it is not run.
        """
        return (self._ran() if check in self.hidden else self.visible)[check]

    def __iter__(self) -> Iterator[str]:
        """The checks that run, the visible ones first."""
        yield from self.visible
        yield from self._ran()

    def __len__(self) -> int:
        """How many run."""
        return len(self.visible) + len(self._ran())


@dataclass(slots=True)
class LiveMistakes:
    """Runs the checks on the solutions with mistakes edited in, and keeps how they went.

    Args:
        environment: what checks are called with.
        launcher: makes the processes that run them; this process's own where none is given.
        says: is told the id of an exercise, and how many of its mistakes, or pairs, are run now.
    """

    environment: CheckEnvironment
    launcher: Launcher | None = None
    says: Callable[[str, int], None] | None = None
    solutions: Submission = field(init=False)
    misconceptions: Mapping[str, tuple[Misconception, ...]] = field(init=False)
    tried: dict[tuple[str, int, tuple[str, ...]], list[Known]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read solutions and misconceptions."""
        self.solutions = read_solutions(self.environment.course)
        self.misconceptions = all_misconceptions(self.environment.course)

    def of(self, exercise: Exercise) -> list[Misconception]:
        """The misconceptions of an exercise."""
        return [m for m in self.misconceptions[exercise.assignment] if m.exercise == exercise.id]

    def known(self, exercise: Exercise, checks: Checks, size: int) -> list[Known]:
        """As the checks go here and now; combinations whose edits collide are left out.

        The visible checks run with each. The hidden ones, whose inputs are drawn anew for each class,
        run with a mistake when it is first asked how they go.

        Args:
            exercise: whose mistakes.
            checks: the checks to run with each, the visible ones first.
            size: 1 for each mistake by itself, 2 for two at once.

        Raises:
            NoProcessFault: when no process could be started for one of them.
        """
        key = (exercise.id, size, tuple(check.id for check in checks))
        if key not in self.tried:
            visible = tuple(check for check in checks if check.visibility is Visibility.VISIBLE)
            groups = list(combinations(self.of(exercise), size))
            if size > 1:
                groups = [group for group in groups if not any(m.alone for m in group)]
            entries = self._kept(exercise, visible, groups)
            hidden = checks[len(visible) :]
            self.tried[key] = [self._with_hidden(entry, exercise, hidden) for entry in entries]
        return self.tried[key]

    def _kept(self, exercise: Exercise, checks: Checks, groups: Sequence[Group]) -> list[Known]:
        """How checks go with groups of mistakes, from the cache where that was found out before.

        What a release found out, where the reference replied from a recording, holds here as well; but
        a release finds out for itself whether a check breaks then.
        """
        course, seed = self.environment.course, self.environment.seed
        about = [
            [[mistake.id for mistake in group] for group in groups],
            [check.id for check in checks],
            everything_of(course, course.by_id[exercise.assignment]),
        ]
        states = ["recorded"] if not seed else ["recorded", "live"]
        if any(check.visibility is Visibility.HIDDEN for check in checks):
            states = [f"seed {seed}"]
        names = [[state, *about] for state in states]

        def kept() -> Iterator[bytes]:
            return (c for name in names if (c := found("mistakes", name)) is not None)

        if content := next(kept(), None):
            return read_known(content)
        with one_at_a_time("mistakes", names[-1]):
            content = next(kept(), None) or self._ran(exercise, checks, groups, names[-1])
        return read_known(content)

    def _ran(
        self, exercise: Exercise, checks: Checks, groups: Sequence[Group], name: object
    ) -> bytes:
        """How checks go with groups of mistakes, run one after the other, and kept by this name."""
        if self.says and groups:
            self.says(exercise.id, len(groups))
        with closing(self.session(self.solutions)) as session:
            entries = [
                self._tried(made, exercise, checks, tuple(m.mistake for m in group), session)
                for group in groups
                if (made := self.with_mistakes(exercise, *group)) is not None
            ]
        content = write_known(entries)
        if not any(trace.end == BROKEN for entry in entries for trace in entry.traces.values()):
            keep("mistakes", name, content, most=MOST_KEPT)
        return content

    def _with_hidden(self, entry: Known, exercise: Exercise, hidden: Checks) -> Known:
        """The same, which knows how the hidden checks go as well."""
        if entry.is_over or not hidden:
            return entry
        ids = [mistake.id for mistake in entry.mistakes]
        group = tuple(one for one in self.of(exercise) if one.id in ids)

        def run() -> Traces:
            (known,) = self._kept(exercise, hidden, [group])
            return known.traces

        names = frozenset(check.id for check in hidden)
        return replace(entry, traces=TracesOnDemand(entry.traces, names, run))

    def _tried(
        self,
        made: Submission,
        exercise: Exercise,
        checks: Checks,
        mistakes: tuple[Mistake, ...],
        session: ChildSession,
    ) -> Known:
        """How the checks go with mistakes that were made, in a session that serves one by one."""
        for _try in range(TRIES):
            session.serve(made)
            records = self.run(made, exercise, checks, session)
            ends = [r.raised for r in records if isinstance(r.raised, NoProcessFault | NotJudged)]
            if not ends:
                is_over = bool(records) and _ends_its_exercise(records[-1])
                return Known(mistakes, traces(records), is_over)
            session.close()
        raise NoProcessFault(f"a known mistake of {exercise.id} could not be run: {ends[0]}")

    def session(self, made: Submission) -> ChildSession:
        """A process for solutions with mistakes in them, which may be a student's code."""
        course = self.environment.course
        launcher = self.launcher or seal_probe.shared_launcher(course.packages)
        return ChildSession(launcher, made, course.limits)

    @contextmanager
    def stand_in(
        self, exercise: Exercise, mistakes: Sequence[str], submission: SubmissionHandle
    ) -> Iterator[SubmissionHandle | None]:
        """The solution with these mistakes in it; None where their edits collide."""
        del submission
        group = [one for one in self.of(exercise) if one.id in mistakes]
        made = self.with_mistakes(exercise, *group)
        if made is None:
            yield None
            return
        with closing(self.session(made)) as session:
            yield SubmissionHandle(made, session, self.environment.course.limits)

    def with_mistakes(self, exercise: Exercise, *group: Misconception) -> Submission | None:
        """The solutions with these mistakes in them, or None where the edits collide."""
        text = edited(self.source(exercise).cells[0].text, *group)
        return None if text is None else self.with_text(exercise, text)

    def source(self, exercise: Exercise) -> SourceFile:
        """The solution that an exercise is in."""
        return self.solutions.sources[self.solutions.readings[exercise.assignment].sources[0]]

    def with_text(self, exercise: Exercise, text: str) -> Submission:
        """The solutions with another text of the one that an exercise is in."""
        source = self.source(exercise)
        changed = replace(source, cells=(Cell(None, text),))
        return replace(self.solutions, sources={**self.solutions.sources, source.key: changed})

    def run(
        self,
        submission: Submission,
        exercise: Exercise,
        checks: Checks,
        session: Session,
        adapt: Callable[[Check, Fixtures], Fixtures] = lambda check, fixtures: fixtures,
    ) -> list[CheckRecord]:
        """Run an exercise's checks on a submission, up to one that blocks the others.

        Args:
            submission: the solutions, or what was made of them.
            exercise: the exercise.
            checks: its checks.
            session: what the submission runs in.
            adapt: what a check is called with, from what it would be.
        """
        limits = self.environment.course.limits
        handle = SubmissionHandle(submission, session, limits, notes_chance=True)
        handle.declared[exercise.id] = self.environment.declared(exercise)
        records = []
        for check in checks:
            with handle.within(check.memory_mib, exercise.assignment) as asked:
                given = self.environment.fixtures(asked, exercise, check.id, check.visibility)
                record = check.run(adapt(check, given), self.environment)
            records.append(record)
            if _ends_its_exercise(record):
                break
        return records


def _ends_its_exercise(record: CheckRecord) -> bool:
    """Whether later checks are not run after one that went so."""
    outcome = outcome_of(record.check, record.raised)
    return outcome is not Outcome.PASSED and record.check.ends_its_exercise(outcome)


def _with_parameters(records: list[CheckRecord]) -> list[CheckRecord]:
    """The same; where weights were not found, what rests on drawn numbers alone names nothing."""
    if all(name.endswith("bias") for record in records for name in record.not_taken):
        return records
    of_shape = [
        isinstance(r.raised, Mismatch) and is_of_shape(r.raised.difference) for r in records
    ]
    return [  # drawn numbers do not change shapes
        replace(record, is_evidence=not record.is_drawn or is_about_shape)
        for record, is_about_shape in zip(records, of_shape, strict=True)
    ]


def findings(
    mistakes: KnownMistakes, checks: Checks, records: Mapping[str, CheckRecord]
) -> tuple[Finding, ...]:
    """The mistakes recognised in an exercise.

    Args:
        mistakes: the known ones.
        checks: the checks of the exercise.
        records: by check, how those that ran went; others may be among them.
    """
    ran = [records[check.id] for check in checks if check.id in records]
    if all(record.raised is None or record.check.is_remark for record in ran):
        return ()
    judged = [record for record in _with_parameters(ran) if not record.is_slip]
    first, student = ran[0].raised, traces(judged)
    if isinstance(first, StudentOutcome) and first.failure.outcome in UNJUDGED:
        return ()  # a stub, or no such name: there is nothing to recognise a mistake in
    # A check that breaks says nothing of the others.
    student = {id_: trace for id_, trace in student.items() if trace.end != BROKEN}
    known = partial(mistakes.known, checks[0].exercise, checks)
    return diagnose(student, known(1), lambda: known(2))
