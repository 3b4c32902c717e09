"""Runs graded checks with pytest: one warm session per submission, outcomes out.

A check is a method of a class marked with its exercise:

    @pytest.mark.exercise("dot_product")
    class TestDotProduct:
        @pytest.mark.gate
        def test_it_answers_a_single_number(self, student, judge): ...

Marks: `weight(n)` (1 unless said), `gate` (when it does not pass, the exercise's later checks are
blocked), `remark` (costs nothing). Fixtures: `student`, `reference`, `judge`, `draw`, `printed`.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.course import Course, Exercise
from grader.draw import Draw
from grader.errors import CourseError, GraderFault
from grader.handle import ReferenceHandle, StudentHandle, StudentOutcome, SubmissionHandle
from grader.judging import Judge, Mismatch
from grader.ledger import Ledger
from grader.messages import explain_difference, explain_failure
from grader.model import CheckResult, Outcome, Picture, Visibility
from grader.pictures import picture_of
from grader.text import clean
from grader.workbench import Tools, Workbench

FILES = {"test_visible.py": Visibility.VISIBLE, "test_hidden.py": Visibility.HIDDEN}

UNUSED_PLUGINS = (
    *("cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan"),
    *("skipping", "stepwise", "subtests", "terminal", "terminalprogress", "threadexception"),
    *("tmpdir", "unittest", "unraisableexception", "warnings"),
)
"""Plugins of pytest that graded checks do not use; without them 60 checks take 48 ms, not 140."""

MARKS = (
    "exercise(name): the exercise that the checks of a class belong to",
    "weight(n): a check's share of its exercise's points, 1 unless said",
    "gate: when it does not pass, the later checks of its exercise are blocked",
    "remark: says what would be better and costs nothing",
)

MAX_PRINTED = 400
ENDS_THE_EXERCISE = (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class Check:
    """One check as declared: what it belongs to, what it weighs, and the function itself."""

    id: str
    exercise: Exercise
    visibility: Visibility
    title: str
    weight: int
    is_gate: bool
    is_remark: bool
    owner: type
    function: Callable[..., None]

    def run(self, tools: Tools) -> "Conduct":
        """Call the check function itself, outside of pytest, with what it asks for by name."""
        names = list(inspect.signature(self.function).parameters)[1:]
        try:
            self.function(self.owner(), **{name: getattr(tools, name) for name in names})
        except (StudentOutcome, Exception) as error:
            return Conduct(self, tools.judge.judged, error)
        return Conduct(self, tools.judge.judged, None, tuple(tools.judge.covered))

    def ends_its_exercise(self, outcome: Outcome) -> bool:
        """Whether the later checks of the exercise are blocked when this one ended so."""
        return outcome in ENDS_THE_EXERCISE or (self.is_gate and outcome is not Outcome.PASSED)


class Blocked(pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """Ends a check that an earlier one of its exercise forbids."""


@dataclass(slots=True)
class Conduct:
    """How one check went, beyond its outcome: what diagnosis goes by."""

    check: Check
    judged: list[Any]
    raised: BaseException | None
    covered: tuple[str, ...] = ()


@dataclass
class CheckRun:
    """The pytest plugin of one run: gives checks their tools and writes down their outcomes.

    Args:
        workbench: what to judge with.
        submission: what is judged.
        exercises: the ones to check, by full id.
        visibilities: which checks to run.
    """

    workbench: Workbench
    submission: SubmissionHandle
    exercises: dict[str, Exercise]
    visibilities: tuple[Visibility, ...]
    checks: dict[str, Check] = field(default_factory=dict)
    results: dict[str, CheckResult] = field(default_factory=dict)
    conducts: dict[str, Conduct] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    # What checks ask for by the names of their parameters.

    @pytest.fixture
    def tools(self, request: pytest.FixtureRequest) -> Tools:
        """All tools of one check."""
        check = self.checks[request.node.nodeid]
        return self.workbench.tools(self.submission, check.exercise, check.id, check.visibility)

    @pytest.fixture
    def student(self, tools: Tools) -> StudentHandle:
        """The student handle."""
        return tools.student

    @pytest.fixture
    def reference(self, tools: Tools) -> ReferenceHandle:
        """The same handle over the hidden solution."""
        return tools.reference

    @pytest.fixture
    def judge(self, tools: Tools) -> Judge:
        """The one function that values are judged by."""
        return tools.judge

    @pytest.fixture
    def draw(self, tools: Tools) -> Draw:
        """Inputs from the run's seed."""
        return tools.draw

    @pytest.fixture
    def printed(self, tools: Tools) -> Ledger:
        """The documents' printed tensors by id."""
        return tools.printed

    # pytest's hooks.

    def pytest_configure(self, config: pytest.Config) -> None:
        """Make the marks known."""
        for mark in MARKS:
            config.addinivalue_line("markers", mark)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep the checks asked for: all visible ones, then all hidden ones, in course order.

        Code that remembers what a hidden check asked can then not tell it in a visible check's
        message.
        """
        del config
        for item in items:
            try:
                check = describe_check(self.workbench.course, item)
            except CourseError as error:
                self.problems += error.problems
                continue
            if check.exercise.id in self.exercises and check.visibility in self.visibilities:
                self.checks[item.nodeid] = check
        order = {id_: position for position, id_ in enumerate(self.exercises)}
        items[:] = sorted(
            (item for item in items if item.nodeid in self.checks and not self.problems),
            key=lambda item: self._rank(self.checks[item.nodeid], order),
        )

    @staticmethod
    def _rank(check: Check, order: dict[str, int]) -> tuple[bool, int]:
        return check.visibility is Visibility.HIDDEN, order[check.exercise.id]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A check file that cannot be collected is the grader's own fault."""
        if report.failed:
            self.faults.append(f"{report.nodeid}: {_why(report.longreprtext)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """End a check whose exercise is blocked before it begins."""
        reason = self.blocked.get(self.checks[item.nodeid].exercise.id)
        if reason is not None:
            raise Blocked(reason, pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Turn the way a check ended into its outcome."""
        check = self.checks[item.nodeid]
        error = call.excinfo.value if call.excinfo is not None else None
        if isinstance(error, Blocked):
            self._write(check, Outcome.BLOCKED, f"Not run: {error.msg}", 0.0)
        elif call.when == "call" or error is not None:
            tools = getattr(item, "funcargs", {}).get("tools")
            self._conclude(check, tools, error if call.when == "call" else _fault(error), call)
        return (yield)

    def _conclude(
        self,
        check: Check,
        tools: Tools | None,
        error: BaseException | None,
        call: pytest.CallInfo[None],
    ) -> None:
        printed = "".join(tools.student.printed) if tools is not None else ""
        outcome, message = conclude(check, error, printed)
        judge = tools.judge if tools is not None else Judge()
        conduct = Conduct(check, judge.judged, error, tuple(judge.covered))
        self.conducts[check.id] = conduct
        self._write(check, outcome, message, call.duration, self._picture(error))
        if check.ends_its_exercise(outcome):
            self.blocked[check.exercise.id] = f"first this has to hold: {check.title}"

    def _picture(self, error: BaseException | None) -> Picture | None:
        if not isinstance(error, Mismatch):
            return None
        return picture_of(error.difference, error.calls, self.workbench.ledger)

    def _write(
        self,
        check: Check,
        outcome: Outcome,
        message: str,
        seconds: float,
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
            picture=picture,
        )

    def by_exercise(self) -> dict[str, tuple[CheckResult, ...]]:
        """The outcomes of each exercise's checks; one that was not reported is an error.

        Raises:
            CourseError: when a check declares something wrong.
            GraderFault: when checks could not be collected.
        """
        if self.problems:
            raise CourseError(*self.problems)
        if self.faults:
            raise GraderFault("checks could not be collected: " + "; ".join(self.faults))
        found: dict[str, list[CheckResult]] = {id_: [] for id_ in self.exercises}
        for check in self.checks.values():
            if check.id not in self.results:
                self._write(check, Outcome.ERROR, "It was collected and not reported.", 0.0)
            found[check.exercise.id].append(self.results[check.id])
        return {id_: tuple(results) for id_, results in found.items()}


def describe_check(course: Course, item: pytest.Item) -> Check:
    """What a collected test function declares.

    Raises:
        CourseError: when it declares no exercise of its assignment, or lacks a docstring.
    """
    if not isinstance(item, pytest.Function) or item.cls is None:
        raise CourseError(f"{item.nodeid}: only methods of classes can be checks")
    mark = item.get_closest_marker("exercise")
    id_ = f"{item.path.parent.name}/{mark.args[0] if mark and mark.args else ''}"
    if id_ not in course.exercises:
        raise CourseError(f"{item.nodeid}: it is marked with no exercise of its assignment")
    visibility = FILES[item.path.name]
    title = " ".join((item.function.__doc__ or "").split())
    if not title:
        raise CourseError(f"{item.nodeid}: its docstring is the sentence the student reads")
    weight = item.get_closest_marker("weight")
    is_remark = item.get_closest_marker("remark") is not None
    return Check(
        id=f"{id_}::{visibility}::{item.name}",
        exercise=course.exercises[id_],
        visibility=visibility,
        title=title,
        weight=0 if is_remark else weight.args[0] if weight else 1,
        is_gate=item.get_closest_marker("gate") is not None,
        is_remark=is_remark,
        owner=item.cls,
        function=item.function,
    )


def _fault(error: BaseException | None) -> BaseException:
    """What went wrong while a check was set up is never the student's."""
    return GraderFault(f"a check could not be set up: {error!r}")


def conclude(check: Check, error: BaseException | None, printed: str) -> tuple[Outcome, str]:
    """The outcome and the message of a check that ended in this way."""
    if error is None:
        return Outcome.PASSED, ""
    if isinstance(error, StudentOutcome):
        outcome = error.failure.outcome
        message = explain_failure(error.failure, error.calls, check.exercise.name)
    elif isinstance(error, Mismatch):
        outcome = Outcome.FAILED
        message = explain_difference(error.difference, error.calls)
    elif isinstance(error, AssertionError):
        outcome, message = Outcome.FAILED, clean(str(error)) or check.title
    else:
        fault = f"{type(error).__name__}: {error}"
        return Outcome.ERROR, f"The grader itself failed on this check: {clean(fault)}"
    if printed and outcome is not Outcome.NOT_ATTEMPTED:
        message += f"\nYour code printed: {clean(printed.strip(), MAX_PRINTED)}"
    if check.is_remark and outcome is Outcome.FAILED:
        outcome = Outcome.REMARK
    return outcome, message


def run_checks(run: CheckRun) -> dict[str, tuple[CheckResult, ...]]:
    """Run the checks of a run, and answer the outcomes of each exercise.

    Raises:
        GraderFault: when pytest itself fails.
    """
    root = run.workbench.course.root
    arguments = [
        *("-c", os.devnull, "--rootdir", str(root), "--noconftest", "--assert=plain"),
        *("--import-mode=importlib", "--disable-plugin-autoload"),
        *(part for name in UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
        *(str(path) for path in check_files(run)),
    ]
    _forget_checks(root / "tests" / "checks")
    options = os.environ.pop("PYTEST_ADDOPTS", None)
    try:
        code = pytest.main(arguments, plugins=[run])
    finally:
        if options is not None:
            os.environ["PYTEST_ADDOPTS"] = options
        if run.faults:
            _forget_checks(root / "tests" / "checks", also_own=True)
    known = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
    if code not in known and not run.faults:
        raise GraderFault(f"pytest ended with exit code {code} while running checks")
    return run.by_exercise()


def _why(report: str) -> str:
    """The last line of an error's report, and where in a check file it was."""
    lines = [line[1:].strip() for line in report.splitlines() if line.startswith("E ")]
    places = re.findall(r"^(?:E\s+File .*, line |\S+test_\w+\.py:)(\d+)", report, re.MULTILINE)
    place = f" (line {places[-1]})" if places else ""
    return f"{lines[-1] if lines else report.strip()[-200:]}{place}"


def _forget_checks(folder: Path, *, also_own: bool = False) -> None:
    """Let go of the check files of other courses, whose modules have the same names.

    Args:
        folder: this course's checks.
        also_own: this course's, too: Python keeps the module of a file that failed to load, and
            the next submission would find it without its checks.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or not name.startswith("tests.checks."):
            continue
        if also_own or not Path(file).is_relative_to(folder):
            del sys.modules[name]


def check_files(run: CheckRun) -> Sequence[Path]:
    """The files with the checks of a run; a released copy has no hidden ones."""
    course = run.workbench.course
    wanted = {exercise.assignment for exercise in run.exercises.values()}
    files = []
    for assignment in course.assignments:
        if assignment.id in wanted:
            paths = course.paths(assignment)
            both = {
                Visibility.VISIBLE: paths.visible_checks,
                Visibility.HIDDEN: paths.hidden_checks,
            }
            files += [both[v] for v in run.visibilities if both[v].is_file()]
    return files
