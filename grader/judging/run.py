"""Checks as they are declared; runs one, and makes its outcome and message."""

import re
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from grader.core.errors import GraderError
from grader.core.language import _
from grader.core.records import CheckResult, CodeLocation, Outcome, Visibility
from grader.core.text import clean
from grader.course.course import Exercise
from grader.judging.code_location import location_of
from grader.judging.consequences import (
    beside_gradients,
    by_chance,
    came_back,
    is_general,
    is_slip,
    may_follow,
    steady,
    without_values,
)
from grader.judging.diagnosis import BY_CHANCE
from grader.judging.fixtures import CheckEnvironment, Fixtures
from grader.judging.inputs import Inputs, tensors_in
from grader.judging.messages import (
    NO_INPUTS,
    Explanation,
    call_lines,
    exception_words,
    explain_difference,
    explain_failure,
    too_large,
)
from grader.judging.outcomes import has_to_hold_first
from grader.judging.pictures import picture_of
from grader.judging.solution_requests import SolutionRequests
from grader.sessions import own_time
from grader.sessions.base import AsksOtherwise
from grader.testing.compare import Difference
from grader.testing.earlier import judged
from grader.testing.judge import Mismatch
from grader.testing.lookup import Located, SubmissionHandle
from grader.testing.student import NotJudged, StudentOutcome

MAX_PRINTED = 400
ENDS_THE_EXERCISE = (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY)
WITHOUT_PRINTED = (Outcome.PASSED, Outcome.NOT_ATTEMPTED, Outcome.ERROR, Outcome.NO_TURN)
"""Where what student code printed is not part of the message."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check as declared: what it belongs to, what it weighs, and the function itself.

    Args:
        id: `<exercise id>::<visibility>::<name>`.
        visibility: whether students see it.
        title: its docstring, the sentence the student reads.
        weight: its share of the exercise's points; 0 for a remark.
        is_gate: whether the later checks of the exercise are blocked when it does not pass.
        is_remark: whether it says what would be better and costs nothing.
        is_conduct: whether it counts only as far as values are right.
        owner: the class that `function` is a method of.
        asks_for: the fixtures it is called with, by name.
        deepens: of a hidden check, the name of a visible one, or a sentence of the docstring.
        file: the one it stands in, from the course's folder.
        guessable: why values of the exercise can be guessed; "" where they cannot.
        memory_mib: the MiB that the submission may use in it, in a process of its own; 0 for no
            limit but the course's.
    """

    id: str
    exercise: Exercise
    visibility: Visibility
    title: str
    weight: int
    is_gate: bool
    is_remark: bool
    is_conduct: bool
    owner: type
    function: Callable[..., None]
    asks_for: tuple[str, ...]
    deepens: str = ""
    file: str = ""
    guessable: str = ""
    memory_mib: int = 0

    def run(self, fixtures: Fixtures, environment: CheckEnvironment) -> "CheckRecord":
        """Call the check with the fixtures it asks for by name, and end it when it takes too long."""
        error: BaseException | None = None
        fixtures.judge.axes = getattr(self.owner, "axes", ())
        given = {name: getattr(fixtures, name) for name in self.asks_for}
        seconds = environment.course.limits.check_seconds
        try:
            with own_time.limited(0 if self.id in environment.overdue else seconds):
                self.function(self.owner(), **given)
                fixtures.student.submission.settle()
        except own_time.OwnTimeOver as raised:
            environment.overdue.add(self.id)
            error = TimeoutError(f"it did not return within {seconds:g} seconds")
            error.__traceback__ = raised.__traceback__
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
            error = raised
        fixtures.student.submission.waiting = None
        if isinstance(error, Mismatch) and not error.difference.hints:
            hints = beside_gradients(error.difference, fixtures)
            error.difference = replace(error.difference, hints=hints)
        if isinstance(error, Mismatch):
            error.difference = without_values(error.difference, fixtures.student.not_taken)
            error.calls = fixtures.student.calls_to(error.difference.actual)
        return CheckRecord(
            self,
            steady(fixtures.student, fixtures.judge.judged),
            error,
            tuple(fixtures.judge.covered),
            is_general=isinstance(error, Mismatch) and is_general(error.difference, fixtures),
            not_taken=frozenset(fixtures.student.not_taken),
            is_drawn=any(call.is_drawn for call in fixtures.student.calls),
            is_slip=error is not None and is_slip(error, fixtures),
            replied=() if error is None else came_back(fixtures.student),
            misnamed=tuple(fixtures.judge.misnamed),
            forgeable=tuple(fixtures.judge.forgeable),
        )

    @property
    def name(self) -> str:
        """Its own name, the last part of its id."""
        return self.id.rpartition("::")[2]

    @property
    def place(self) -> tuple[bool, bool, bool, bool]:
        """What of an exercise's checks comes first.

        Gates, then what its class has of its own, what it inherits, and last from
        `grader.testing`; remarks follow all of them, as pytest has them.
        """
        if self.is_remark:
            return True, False, False, False
        is_inherited = self.name not in vars(self.owner)
        is_general = self.function.__module__.startswith("grader.")
        return False, not self.is_gate, is_inherited, is_general

    def line_of(self, fault: BaseException | None) -> str:
        """Where in this check's file an exception arose, "" where nowhere in it or foreseen."""
        if fault is None or isinstance(fault, GraderError | AssertionError | StudentOutcome):
            return ""
        frames = traceback.walk_tb(fault.__traceback__)
        files = ((Path(frame.f_code.co_filename).as_posix(), number) for frame, number in frames)
        lines = [number for file, number in files if file.endswith(f"/{self.file}")]
        return f"{self.file}:{lines[-1]}: " if lines else ""

    def result(
        self, outcome: Outcome, message: str = "", seconds: float = 0.0, **known: Any
    ) -> CheckResult:
        """What is kept of how it ended; what is known besides has the names of `CheckResult`."""
        return CheckResult(
            id=self.id,
            title=self.title,
            visibility=self.visibility,
            weight=self.weight,
            outcome=outcome,
            message=message,
            duration_s=round(seconds, 4),
            is_conduct=self.is_conduct,
            **known,
        )

    def ends_its_exercise(self, outcome: Outcome) -> bool:
        """Whether the later checks of the exercise are blocked when this one ended so."""
        return outcome in ENDS_THE_EXERCISE or (self.is_gate and outcome is not Outcome.PASSED)


@dataclass(slots=True)
class CheckRecord:
    """How one check went, beyond its outcome: what mistakes are recognised by.

    Args:
        judged: the values it judged, in order.
        raised: what ended it; None when it passed.
        covered, misnamed, forgeable: what the judge has kept under these names.
        is_general: whether values are not the solution's, which is no sign of what the title says.
        not_taken: the names of the parameters that took no value.
        is_drawn: whether an instance kept the numbers that it drew from a given seed.
        is_slip: whether other names, or another signature, are what it failed for: it says so.
        is_evidence: whether a mistake may be recognised by it alone.
        replied: where it did not pass, all that came back and does not hang on chance.
    """

    check: Check
    judged: list[Any]
    raised: BaseException | None
    covered: tuple[str, ...] = ()
    is_general: bool = False
    not_taken: frozenset[str] = frozenset()
    is_drawn: bool = False
    is_slip: bool = False
    is_evidence: bool = True
    replied: tuple[Any, ...] = ()
    misnamed: tuple[Any, ...] = ()
    forgeable: tuple[str, ...] = ()


@dataclass(slots=True)
class CheckRun:
    """Runs checks on one submission, exercise by exercise, and keeps how each went.

    Hidden checks run in a process of their own: code that remembers what they asked can then not
    show it in a visible check's message.

    Args:
        checks: those to run; others may be added.
        unseen: the submission in that process.
        expected: what checks ask of a right submission; None to ask nothing ahead.
        asks_otherwise: the exercises whose checks ask something else of this one.
        failed: how checks of the exercise at hand did that judged something else than is expected.
    """

    environment: CheckEnvironment
    submission: SubmissionHandle
    checks: InitVar[Iterable[Check]]
    unseen: SubmissionHandle | None = None
    expected: Callable[[Exercise, Sequence[Check]], SolutionRequests] | None = None
    asks_otherwise: set[str] = field(default_factory=set)
    results: dict[str, CheckResult] = field(default_factory=dict)
    records: dict[str, CheckRecord] = field(default_factory=dict)
    blocked: dict[str, Check] = field(default_factory=dict)
    by_exercise: dict[str, tuple[Check, ...]] = field(default_factory=dict)
    failed: list[tuple[CheckRecord, Mismatch, Fixtures, Callable[[], None]]] = field(
        default_factory=list
    )

    def __post_init__(self, checks: Iterable[Check]) -> None:
        """Sort the checks by exercise."""
        self.add(checks)

    def run(self, exercises: Iterable[str]) -> dict[str, tuple[CheckResult, ...]]:
        """Run all checks; the outcomes of each of these exercises, in order."""
        return {id_: self.exercise(id_) for id_ in exercises}

    def close(self) -> None:
        """End the process of the hidden checks."""
        if self.unseen is not None and self.unseen is not self.submission:
            self.unseen.session.close()

    def of(self, id_: str) -> tuple[Check, ...]:
        """The checks of an exercise."""
        return self.by_exercise.get(id_, ())

    def add(self, checks: Iterable[Check]) -> None:
        """Have more checks to run."""
        for check in checks:
            id_ = check.exercise.id
            self.by_exercise[id_] = (*self.by_exercise.get(id_, ()), check)

    def exercise(self, id_: str) -> tuple[CheckResult, ...]:
        """Run the checks of an exercise, the visible ones first; their outcomes."""
        checks = self.of(id_)
        self.blocked.pop(id_, None)
        for check in checks:
            self._run(check)
        self._tell_chance(checks)
        records = [self.records[check.id] for check in checks if check.id in self.records]
        self._take_back_remarks(records)
        self._mark_consequences(records)
        results = tuple(self.results[check.id] for check in checks)
        self.submission.judged[id_] = judged(results)
        return results

    def _tell_chance(self, checks: Iterable[Check]) -> None:
        """Say of a result that is another one each time that it is, and compare it with no mistake's.

        After all the checks: code that counts its calls is asked what it is asked without this.
        """
        failed, self.failed = self.failed, []
        is_alive = not any(self.results[c.id].outcome in ENDS_THE_EXERCISE for c in checks)
        for record, error, fixtures, conclude in failed if is_alive else ():
            actual, found = error.difference.actual, by_chance(fixtures.student, error.difference)
            if found is not None:
                error.difference = found
                record.judged = [BY_CHANCE if value is actual else value for value in record.judged]
                conclude()

    def _asked_by(self, check: Check) -> SubmissionHandle:
        """The submission in the process that a check asks."""
        exercise, submission = check.exercise, self.submission
        if exercise.id not in submission.declared:
            submission.declared[exercise.id] = self.environment.declared(exercise)
        if check.visibility is Visibility.VISIBLE:
            return submission
        if self.unseen is None:
            self.unseen = submission.apart()
        if self.unseen is not submission:
            self.unseen.loads_as(submission)
        return self.unseen

    def _take_back_remarks(self, records: Iterable[CheckRecord]) -> None:
        """A remark that ended in an exception which fails a check, too, has judged nothing."""
        failures = [
            (record.check, (failure.kind, failure.type, failure.location))
            for record in records
            if isinstance(record.raised, StudentOutcome)
            for failure in [record.raised.failure]
        ]
        failing = {how: check for check, how in reversed(failures) if not check.is_remark}
        for check, how in failures:
            result = self.results[check.id]
            if result.outcome is Outcome.REMARK and how in failing:
                self._write_blocked(check, failing[how], result.duration_s)

    def _mark_consequences(self, records: Iterable[CheckRecord]) -> None:
        """Note which checks may fail for nothing but what an earlier one of the exercise fails for."""
        before: list[Difference] = []
        for record in records:
            check = record.check
            if not isinstance(record.raised, Mismatch) or check.is_remark:
                continue
            found, known = record.raised.difference, (record.is_general, record.not_taken)
            if any(may_follow(found, first, *known) for first in before):
                self.results[check.id] = structs.replace(self.results[check.id], may_follow=True)
            else:
                before.append(found)

    def _run(self, check: Check) -> None:
        first = self.blocked.get(check.exercise.id)
        if first is not None:
            self._write_blocked(check, first)
            return
        started = time.perf_counter()
        submission = self._asked_by(check)
        located = submission.locate(check.exercise)
        # Of a file that lacks the exercise nothing may be asked: loading it may end its process.
        is_there = check.exercise.name in located.names
        may_ask = is_there and not check.memory_mib and not submission.stand_ins
        asked = submission.asked_as(check.exercise, self._compared(check)) if may_ask else ""
        if asked:
            self._send_ahead(check, submission, located)
        known: CheckRecord | None = submission.session.begin(check.id, asked)
        if known is not None:
            self._conclude(check, known, "", started)
            return
        with submission.within(check.memory_mib, check.exercise.assignment) as limited:
            try:
                self._ask(check, limited, started)
            except AsksOtherwise:
                self.asks_otherwise.add(check.exercise.id)
                limited.session.restart()
                self._ask(check, limited, started)

    def _send_ahead(self, check: Check, submission: SubmissionHandle, located: Located) -> None:
        """Ask at once what this check and those after it ask a right submission, up to a gate."""
        exercise, expected = check.exercise, self.expected
        is_alike = exercise.id not in self.asks_otherwise
        if expected is None or not is_alike or not submission.session.may_send_ahead(check.id):
            return
        checks = [c for c in self.of(exercise.id) if c.visibility is check.visibility]
        how = located.asked_as(exercise.name, submission.declared[exercise.id])
        known = expected(exercise, checks).of(located.key, how)
        after = takewhile(lambda c: c.id in known, checks[checks.index(check) :])
        requests: dict[str, Sequence[bytes]] = {}
        for following in after:
            requests[following.id] = known[following.id]
            if following.is_gate:
                break
        if requests:
            submission.session.send_ahead(requests)

    def _compared(self, check: Check) -> list[Exercise]:
        """The exercises of other assignments whose work a check may look at."""
        by_id = self.environment.course.by_id
        compares = by_id[check.exercise.assignment].compares
        return [exercise for id_ in compares for exercise in by_id[id_].exercises]

    def _ask(
        self,
        check: Check,
        submission: SubmissionHandle,
        started: float,
        *,
        is_repeated: bool = False,
    ) -> None:
        """Run a check whose outcome is not known, on the submission as it is to run for it.

        Where a busy machine gave student code no turn, it is run once more, in a new process.
        """
        try:
            fixtures = self.environment.fixtures(
                submission, check.exercise, check.id, check.visibility
            )
        except Exception as error:  # whatever it is, it is not the student's
            self.results[check.id] = check.result(Outcome.ERROR, _our_fault(repr(error)))
            return
        record = check.run(fixtures, self.environment)
        if isinstance(record.raised, NotJudged) and not is_repeated:
            submission.session.begin(check.id)  # what was remembered holds of another process
            self._ask(check, submission, started, is_repeated=True)
            return
        submission.session.conclude(record if record.raised is None else None)
        exercises = (exercise.name for exercise in self.environment.course.exercises.values())
        where = location_of(fixtures.student, record.raised, exercises)
        inputs = _inputs(check, fixtures, record.raised)
        printed = "".join(fixtures.student.printed)
        conclude = partial(self._conclude, check, record, printed, started, where, inputs)
        conclude()
        if isinstance(record.raised, Mismatch):
            self.failed.append((record, record.raised, fixtures, conclude))

    def _conclude(
        self,
        check: Check,
        record: CheckRecord,
        printed: str,
        started: float,
        where: CodeLocation | None = None,
        inputs: Inputs = NO_INPUTS,
    ) -> None:
        self.records[check.id] = record
        error, picture = record.raised, None
        outcome = outcome_of(check, error)
        waits_for = self._waits_for(check, error)
        behind = self._behind_it(waits_for)
        explanation = Explanation(behind) if behind else explain(check, error, where, inputs)
        message = explanation.text
        if printed and outcome not in WITHOUT_PRINTED:
            template = _("Your code printed: {text}")
            message += "\n" + template.format(text=clean(printed.strip(), MAX_PRINTED))
        if isinstance(error, Mismatch):
            picture = picture_of(
                error.difference, error.calls, self.environment.ledger, explanation.tensors
            )
        self.results[check.id] = check.result(
            outcome,
            message,
            time.perf_counter() - started,
            where=where,
            picture=picture,
            waits_for=waits_for,
            raised=_exception_of(error),
            reason=(explanation.reason, len(explanation.text.splitlines())),
            broke_off=isinstance(error, StudentOutcome),
        )
        is_over = check.ends_its_exercise(outcome) or isinstance(error, NotJudged)
        if is_over and not _is_open_forward(error):
            self.blocked[check.exercise.id] = check

    def _write_blocked(self, check: Check, first: Check, seconds: float = 0.0) -> None:
        message = has_to_hold_first(first.title)
        blocked = check.result(Outcome.BLOCKED, message, seconds, blocked_by=first.id)
        self.results[check.id] = blocked

    def _waits_for(self, check: Check, error: BaseException | None) -> str:
        """The id of the exercise that a blocked check needs, "" where it is none of the course's."""
        if not isinstance(error, StudentOutcome) or error.failure.kind != "blocked":
            return ""
        cause = error.failure.loading or error.failure
        course = self.environment.course
        own = course.by_id[check.exercise.assignment]
        names = (cause.message, *re.findall(r"\w+", error.failure.message))
        near = (f"{id_}/{name}" for name in names for id_ in (own.id, *own.imports))
        known = (id_ for id_ in (cause.message, *near) if id_ in course.exercises)
        return next((id_ for id_ in known if id_ != check.exercise.id), "")

    def _behind_it(self, id_: str) -> str:
        """Where to begin, where an exercise that is needed waits itself; "" elsewhere."""
        root = self._root(id_)
        if root == id_:
            return ""
        name, first = (one.partition("/")[2] for one in (id_, root))
        words = _("It needs your `{name}`, which waits for `{root}`: begin there.")
        return words.format(name=name, root=first)

    def _root(self, id_: str) -> str:
        """The id of the exercise that is behind all that waits for one another, from this one on."""
        for _step in self.by_exercise:
            waiting = (self.results[c.id].waits_for for c in self.of(id_) if c.id in self.results)
            before, id_ = id_, next(filter(None, waiting), id_)
            if id_ == before:
                break
        return id_


def _exception_of(error: BaseException | None) -> str:
    """The exception of the student's code that ended a check, "" for any other end."""
    if not isinstance(error, StudentOutcome) or error.failure.kind != "exception":
        return ""
    return exception_words(error.failure)


def _is_open_forward(error: BaseException | None) -> bool:
    """Whether a `forward` is a stub still: what stands in `__init__` can be judged all the same."""
    if not isinstance(error, StudentOutcome) or error.failure.kind != "not_attempted":
        return False
    return bool(error.calls) and error.calls[-1].is_forward


def _inputs(check: Check, fixtures: Fixtures, error: BaseException | None) -> Inputs:
    """What the tensors of a check that failed are called; a hidden check's inputs stay hidden."""
    has_ended = isinstance(error, StudentOutcome) and error.failure.outcome in ENDS_THE_EXERCISE
    calls = error.calls if isinstance(error, StudentOutcome | Mismatch) else ()
    given = [value for call in calls for value in (*call.args, *call.kwargs.values())]
    if check.visibility is Visibility.HIDDEN or not tensors_in(given):
        return NO_INPUTS
    constants = {} if has_ended else fixtures.student.constants()
    drawn = tuple(fixtures.draw.drawn)
    return Inputs(constants, fixtures.draw.number, drawn, may_write=True)


def _our_fault(fault: str) -> str:
    return _("The grader itself failed on this check: {fault}").format(fault=clean(fault))


def outcome_of(check: Check, error: BaseException | None) -> Outcome:
    """The outcome of a check that ended in this way."""
    if error is None:
        return Outcome.PASSED
    outcome = Outcome.NO_TURN if isinstance(error, NotJudged) else Outcome.ERROR
    if isinstance(error, StudentOutcome):
        outcome = error.failure.outcome
        if check.memory_mib and outcome is Outcome.OUT_OF_MEMORY:  # that is what it judges
            outcome = Outcome.FAILED
    elif isinstance(error, AssertionError):
        outcome = Outcome.FAILED
    return Outcome.REMARK if check.is_remark and outcome is Outcome.FAILED else outcome


def explain(
    check: Check,
    error: BaseException | None,
    where: CodeLocation | None = None,
    inputs: Inputs = NO_INPUTS,
) -> Explanation:
    """What a student reads of a check that ended in this way."""
    if error is None:
        return Explanation("")
    if _is_open_forward(error):
        method = error.calls[-1].method if isinstance(error, StudentOutcome) else ""
        words = _("`{name}` is not written yet.") if method else _("`forward` is not written yet.")
        return Explanation(words.format(name=method))
    if isinstance(error, StudentOutcome):
        failure, name = error.failure, check.exercise.name
        if check.memory_mib and failure.kind == "out_of_memory":
            sentence = too_large(failure, check.memory_mib)
            failure = replace(failure, message=sentence, is_sentence=True)
        text = explain_failure(failure, error.calls, name, where, inputs)
        request = "\n".join(call_lines(error.calls, inputs))
        shown = request.count("\n") + 1 if request and text.startswith(f"{request}\n") else 0
        return Explanation(text, reason=shown)
    if isinstance(error, Mismatch):
        return explain_difference(error.difference, error.calls, where, inputs)
    if isinstance(error, AssertionError):
        return Explanation(clean(str(error)) or check.title)
    if isinstance(error, NotJudged):
        return Explanation(str(error))
    return Explanation(_our_fault(f"{check.line_of(error)}{type(error).__name__}: {error}"))
