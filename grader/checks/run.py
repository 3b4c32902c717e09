"""Checks as they are declared, how one is run, and what outcome and message it ends in."""

import inspect
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from grader.checks.answer_cache import AnswerCache
from grader.checks.fixtures import CheckEnvironment, Fixtures
from grader.core.language import _
from grader.core.records import CheckResult, CodeLocation, Outcome, Picture, Visibility
from grader.core.text import clean
from grader.course.course import Exercise
from grader.feedback.code_location import location_of
from grader.feedback.messages import Explanation, explain_difference, explain_failure
from grader.feedback.pictures import picture_of
from grader.sessions.child import ChildSession
from grader.testing.judge import Mismatch
from grader.testing.lookup import Located, SubmissionHandle
from grader.testing.student import StudentOutcome

MAX_PRINTED = 400
ENDS_THE_EXERCISE = (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY)
WITHOUT_PRINTED = (Outcome.PASSED, Outcome.NOT_ATTEMPTED, Outcome.ERROR)
"""Where what student code printed is not part of the message."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check as declared: what it belongs to, what it weighs, and the function itself.

    Args:
        id: `<exercise id>::<visibility>::<name>`.
        exercise: what it belongs to.
        visibility: whether students see it.
        title: its docstring, the sentence the student reads.
        weight: its share of the exercise's points; 0 for a remark.
        is_gate: whether the later checks of the exercise are blocked when it does not pass.
        is_remark: whether it says what would be better and costs nothing.
        owner: the class it is a method of.
        function: the method.
        asks_for: the tools it is called with, by name.
    """

    id: str
    exercise: Exercise
    visibility: Visibility
    title: str
    weight: int
    is_gate: bool
    is_remark: bool
    owner: type
    function: Callable[..., None]
    asks_for: tuple[str, ...]

    def run(self, tools: Fixtures) -> "CheckRecord":
        """Call the check with what it asks for by name."""
        error: BaseException | None = None
        try:
            self.function(self.owner(), **{name: getattr(tools, name) for name in self.asks_for})
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
            error = raised
        return CheckRecord(self, tools.judge.judged, error, tuple(tools.judge.covered))

    def ends_its_exercise(self, outcome: Outcome) -> bool:
        """Whether the later checks of the exercise are blocked when this one ended so."""
        return outcome in ENDS_THE_EXERCISE or (self.is_gate and outcome is not Outcome.PASSED)


@dataclass(slots=True)
class CheckRecord:
    """How one check went, beyond its outcome: what diagnosis goes by."""

    check: Check
    judged: list[Any]
    raised: BaseException | None
    covered: tuple[str, ...] = ()


def parameters(function: Callable[..., None]) -> tuple[str, ...]:
    """The names a method asks for besides itself."""
    return tuple(inspect.signature(function).parameters)[1:]


@dataclass(slots=True)
class CheckRun:
    """Runs checks on one submission, in their order, and keeps how each went.

    Args:
        environment: what to judge with.
        submission: what is judged.
        checks: the checks to run.
        transcripts: what is remembered from other submissions, where there are others.
    """

    environment: CheckEnvironment
    submission: SubmissionHandle
    checks: tuple[Check, ...]
    transcripts: AnswerCache[CheckRecord] | None = None
    results: dict[str, CheckResult] = field(default_factory=dict)
    records: dict[str, CheckRecord] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)

    def run(self, exercises: Iterable[str]) -> dict[str, tuple[CheckResult, ...]]:
        """Run all checks; the outcomes of each of these exercises, in order."""
        for check in self.checks:
            self._run(check)
        found: dict[str, list[CheckResult]] = {id_: [] for id_ in exercises}
        for check in self.checks:
            found[check.exercise.id].append(self.results[check.id])
        return {id_: tuple(results) for id_, results in found.items()}

    def _run(self, check: Check) -> None:
        reason = self.blocked.get(check.exercise.id)
        if reason is not None:
            self._write(check, Outcome.BLOCKED, _("Not run: {reason}").format(reason=reason), 0.0)
            return
        started = time.perf_counter()
        self._listen()
        located = self.submission.locate(check.exercise)
        record = self._known(check, located)
        if record is not None:
            self._conclude(check, record, "", started)
            return
        try:
            tools = self.environment.tools(
                self.submission, check.exercise, check.id, check.visibility
            )
        except Exception as error:  # whatever it is, it is not the student's
            self._write(check, Outcome.ERROR, _our_fault(repr(error)), 0.0)
            return
        if self._remembers:
            # Where it was before the replay, in which its process may have died.
            tools.student.located = located
        record = check.run(tools)
        self._keep(check, record, located.key)
        where = location_of(tools.student, record.raised)
        self._conclude(check, record, "".join(tools.student.printed), started, where)

    @property
    def _remembers(self) -> bool:
        return self.transcripts is not None and isinstance(self.submission.session, ChildSession)

    def _listen(self) -> None:
        if isinstance(self.submission.session, ChildSession):
            self.submission.session.listen()

    def _known(self, check: Check, located: Located) -> CheckRecord | None:
        """How the check goes with the answers that this submission gives, if they are known."""
        session = self.submission.session
        if self.transcripts is None or not isinstance(session, ChildSession):
            return None
        if check.exercise.name not in located.names:  # then the check asks for nothing
            return None
        record = self.transcripts.replay(check.id, located.key, session)
        if record is None:
            session.again()
        return record

    def _keep(self, check: Check, record: CheckRecord, file: str) -> None:
        session = self.submission.session
        if self.transcripts is None or not isinstance(session, ChildSession) or record.raised:
            return
        self.transcripts.keep(check.id, file, session, record)

    def _conclude(
        self,
        check: Check,
        record: CheckRecord,
        printed: str,
        started: float,
        where: CodeLocation | None = None,
    ) -> None:
        self.records[check.id] = record
        error, picture = record.raised, None
        outcome = outcome_of(check, error)
        told = explain(check, error)
        message = told.text
        if printed and outcome not in WITHOUT_PRINTED:
            template = _("Your code printed: {text}")
            message += "\n" + template.format(text=clean(printed.strip(), MAX_PRINTED))
        if isinstance(error, Mismatch):
            picture = picture_of(
                error.difference, error.calls, self.environment.ledger, told.tensors
            )
        self._write(check, outcome, message, time.perf_counter() - started, where, picture)
        if check.ends_its_exercise(outcome):
            reason = _("first this has to hold: {title}").format(title=check.title)
            self.blocked[check.exercise.id] = reason

    def _write(
        self,
        check: Check,
        outcome: Outcome,
        message: str,
        seconds: float,
        where: CodeLocation | None = None,
        picture: Picture | None = None,
    ) -> None:
        self.results[check.id] = CheckResult(
            id=check.id,
            title=check.title,
            visibility=check.visibility,
            weight=check.weight,
            outcome=outcome,
            message=message,
            duration_s=round(seconds, 4),
            where=where,
            picture=picture,
        )


def _our_fault(fault: str) -> str:
    return _("The grader itself failed on this check: {fault}").format(fault=clean(fault))


def outcome_of(check: Check, error: BaseException | None) -> Outcome:
    """The outcome of a check that ended in this way."""
    if error is None:
        return Outcome.PASSED
    outcome = Outcome.ERROR
    if isinstance(error, StudentOutcome):
        outcome = error.failure.outcome
    elif isinstance(error, AssertionError):
        outcome = Outcome.FAILED
    return Outcome.REMARK if check.is_remark and outcome is Outcome.FAILED else outcome


def explain(check: Check, error: BaseException | None) -> Explanation:
    """What a student reads of a check that ended in this way."""
    if error is None:
        return Explanation("")
    if isinstance(error, StudentOutcome):
        return Explanation(explain_failure(error.failure, error.calls, check.exercise.name))
    if isinstance(error, Mismatch):
        return explain_difference(error.difference, error.calls)
    if isinstance(error, AssertionError):
        return Explanation(clean(str(error)) or check.title)
    return Explanation(_our_fault(f"{type(error).__name__}: {error}"))
