"""Collects graded checks with pytest; `grader.judging.run` calls them.

A check is a method of a class marked with its exercise:

    @pytest.mark.exercise("dot_product")
    class TestDotProduct:
        @pytest.mark.gate
        def test_it_answers_a_single_number(self, student, judge): ...

Marks: `weight(n)` (1 unless said), `gate` (when it does not pass, the exercise's later checks are
blocked), `remark` (costs nothing), `conduct` (counts only with values that are right),
`guessable(why)` (of a class: its values can be guessed), `memory(mib=…)` (it runs in a process of its
own, with so much memory), `deepens(…)` (a hidden check tests further
what this visible check, or this sentence of the docstring, has told the student). A check asks by
name for what it needs: `attempt`, `student`, `reference`, `judge`, `draw`, `printed`. It has no other
fixtures and no parameters, so that it can be called for each submission, and for each known
mistake, without pytest's own work around every test (two thirds of a millisecond, where most checks
take less).
"""

import inspect
import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from grader.core.errors import CourseError, GraderFault
from grader.core.kept import kept
from grader.core.language import _
from grader.core.records import Visibility
from grader.course.check_helpers import imported_helpers
from grader.course.course import CHECKS, Course
from grader.course.lost_exercises import require_listed
from grader.judging.fixtures import Fixtures
from grader.judging.modules import forget_checks, load, loaded
from grader.judging.run import Check

FILES = {"test_visible.py": Visibility.VISIBLE, "test_hidden.py": Visibility.HIDDEN}
FIXTURES = ("attempt", *(fixture.name for fixture in fields(Fixtures)))

UNUSED_PLUGINS = (
    *("cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan"),
    *("skipping", "stepwise", "subtests", "terminal", "terminalprogress", "threadexception"),
    *("tmpdir", "unittest", "unraisableexception", "warnings"),
)
"""Plugins of pytest that collecting does not need."""

LEAST_MIB = 16
"""With less, a right and small call can lack memory for what Python itself needs."""

MARKS = (
    "exercise(name): the exercise that the checks of a class belong to",
    "weight(n): a check's share of its exercise's points, 1 unless said",
    "gate: when it does not pass, the later checks of its exercise are blocked",
    "remark: says what would be better and costs nothing",
    "conduct: holds for code that computes nothing; it counts only as far as values are right",
    "guessable(why): values of this exercise can be guessed, so that it bounds nothing",
    "memory(mib): it runs in a process of its own, with so much memory on top of what is imported",
    "deepens(what): the visible check, or the docstring's sentence, that a hidden check tests further",
)


@dataclass
class _Collection:
    """The pytest plugin that keeps what was collected."""

    course: Course
    helpers: tuple[Path, ...]
    checks: list[Check] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Make the marks known."""
        for mark in MARKS:
            config.addinivalue_line("markers", mark)

    def pytest_sessionstart(self) -> None:
        """Load what check files import, where the marks are known."""
        self.faults += filter(None, (load(self.course, path) for path in self.helpers))
        if self.faults:
            pytest.exit("a helper cannot be loaded")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep every check, and leave pytest nothing to run."""
        for item in items:
            try:
                self.checks.append(describe_check(self.course, item))
            except CourseError as error:
                self.problems += error.problems
        items.clear()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A check file that cannot be collected is the grader's own fault."""
        if report.failed:
            self.faults.append(f"{report.nodeid}: {_why(report.longreprtext)}")


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
        name = id_.partition("/")[2]
        for assignment in course.assignments:
            if assignment.id == item.path.parent.name:
                require_listed(assignment, course.paths(assignment).solution, [name])
        raise CourseError(f"{item.nodeid}: it is marked with no exercise of its assignment")
    visibility = FILES[item.path.name]
    if not (item.function.__doc__ or "").strip():
        raise CourseError(f"{item.nodeid}: its docstring is the sentence the student reads")
    asks_for = tuple(inspect.signature(item.function).parameters)[1:]  # besides itself
    unknown = [name for name in asks_for if name not in FIXTURES]
    if unknown or hasattr(item, "callspec"):
        what = f"`{unknown[0]}`" if unknown else "parameters"
        raise CourseError(f"{item.nodeid}: it asks for {what}; checks have {', '.join(FIXTURES)}")
    weight = item.get_closest_marker("weight")
    deepens = item.get_closest_marker("deepens")
    guessable = item.get_closest_marker("guessable")
    is_remark = item.get_closest_marker("remark") is not None
    return Check(
        id=f"{id_}::{visibility}::{item.name}",
        exercise=course.exercises[id_],
        visibility=visibility,
        title=title_of(course, item.function),
        weight=0 if is_remark else weight.args[0] if weight else 1,
        is_gate=item.get_closest_marker("gate") is not None,
        is_remark=is_remark,
        is_conduct=item.get_closest_marker("conduct") is not None,
        guessable=guessable.args[0] if guessable else "",
        owner=item.cls,
        function=item.function,
        asks_for=asks_for,
        deepens=deepens.args[0] if deepens else "",
        memory_mib=_memory(item),
        file=Path(os.path.relpath(item.path, course.root)).as_posix(),
    )


def _memory(item: pytest.Function) -> int:
    """The MiB that a check may use; 0 where it says none.

    Raises:
        CourseError: when it says something else.
    """
    mark = item.get_closest_marker("memory")
    if mark is None:
        return 0
    mib = mark.kwargs.get("mib")
    if mark.args or len(mark.kwargs) != 1 or type(mib) is not int or mib < LEAST_MIB:
        whole = f"a whole number of at least {LEAST_MIB}"
        raise CourseError(f"{item.nodeid}: memory(mib=…) takes {whole}")
    return mib


def collect(
    course: Course, exercises: Collection[str], visibilities: Collection[Visibility]
) -> tuple[Check, ...]:
    """The checks of some exercises: all visible ones, then all hidden ones, in course order.

    Of an exercise, gates come first, inherited checks after the class's own, and remarks last.

    Args:
        course: the course.
        exercises: their ids.
        visibilities: which of the checks.

    Raises:
        CourseError: when a check declares something wrong.
        GraderFault: when checks cannot be collected.
    """
    files = _files(course, exercises, visibilities)
    if not files:  # pytest would look for some itself
        return ()
    collected: list[tuple[Check, ...]] = []

    def make() -> bytes:
        forget_checks(
            course.root / CHECKS, also_own=True
        )  # what is kept is of the files as they are
        helpers = imported_helpers(files)
        collected.append(_collected(course, files, helpers))
        return compiled(course, (*helpers, *files), collected[0])

    depends_on = [course.raw_hash, [course.inner(path) for path in files]]
    content = kept("checks", depends_on, make)
    found = collected[0] if collected else loaded_checks(course, content)
    if found is None:
        found = _collected(course, files, imported_helpers(files))
    order = {id_: position for position, id_ in enumerate(course.exercises)}
    checks = [check for check in found if check.exercise.id in exercises]
    hidden = Visibility.HIDDEN
    checks.sort(key=lambda c: (c.visibility is hidden, order[c.exercise.id], *c.place))
    return tuple(checks)


def _collected(
    course: Course, files: Sequence[Path], helpers: tuple[Path, ...]
) -> tuple[Check, ...]:
    """The checks of these files, in pytest's order; raises as `collect` does."""
    collection = _Collection(course, helpers)
    code = _run_pytest(collection, files)
    if collection.problems:
        raise CourseError(*dict.fromkeys(collection.problems))
    if collection.faults:
        forget_checks(course.root / CHECKS, also_own=True)
        raise GraderFault("checks could not be collected: " + "; ".join(collection.faults))
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderFault(f"pytest ended with exit code {code} while collecting checks")
    return tuple(collection.checks)


def _run_pytest(collection: _Collection, files: Sequence[Path]) -> int:
    root = collection.course.root
    arguments = [
        *("-c", os.devnull, "--rootdir", str(root), "--noconftest", "--assert=plain"),
        # Else pytest would list every folder above the checks, up to the root of the file system.
        *("--confcutdir", str(root / CHECKS)),
        *("--import-mode=importlib", "--disable-plugin-autoload"),
        *(part for name in UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
        *(str(path) for path in files),
    ]
    forget_checks(root / CHECKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        return int(pytest.main(arguments, plugins=[collection]))


def _why(report: str) -> str:
    """The last line of an error's report, and where in a check file it was."""
    lines = [line[1:].strip() for line in report.splitlines() if line.startswith("E ")]
    place = r"^(?:E\s+File .*, line |\S+test_\w+\.py:)(\d+)"
    lines_of_checks = re.findall(place, report, re.MULTILINE)
    location = f" (line {lines_of_checks[-1]})" if lines_of_checks else ""
    return f"{lines[-1] if lines else report.strip()[-200:]}{location}"


def _files(
    course: Course, exercises: Collection[str], visibilities: Collection[Visibility]
) -> list[Path]:
    """The files with the checks of some exercises; a released copy has no hidden ones."""
    wanted = {course.exercises[id_].assignment for id_ in exercises}
    paths = [course.paths(one) for one in course.assignments if one.id in wanted]
    found = [
        each.visible_checks if visibility is Visibility.VISIBLE else each.hidden_checks
        for each in paths
        for visibility in visibilities
    ]
    return [file for file in found if file.is_file()]


IN_MODULES = ("exercise", "title", "owner", "function")
"""What of a check is found in its course and its module; the rest is data."""
DATA = tuple(field.name for field in fields(Check) if field.name not in IN_MODULES)


def title_of(course: Course, function: Callable[..., None]) -> str:
    """A check's docstring in the language of the run."""
    sentence = " ".join((function.__doc__ or "").split())
    return course.text(_(sentence))


def compiled(course: Course, files: Sequence[Path], checks: Sequence[Check]) -> bytes:
    """Collected checks as data; nothing where one is found in its module by no name.

    Args:
        course: the course.
        files: what was loaded for them, in order.
        checks: the checks.
    """
    entries = []
    for check in checks:
        owner = check.owner.__qualname__
        if _found(course, check.file, owner, check.name) != (check.owner, check.function):
            return b"null"
        entries.append([owner, {name: getattr(check, name) for name in DATA}])
    return json.dumps([[course.inner(path) for path in files], entries]).encode()


def loaded_checks(course: Course, content: bytes) -> tuple[Check, ...] | None:
    """The checks of what `compiled` made; None where pytest has to say why they cannot be loaded."""
    known = json.loads(content)
    if known is None:
        return None
    files, entries = known
    forget_checks(course.root / CHECKS, also_own=True)  # this process may have loaded older files
    with pytest.MonkeyPatch.context() as patch:
        # Marks of checks are known only while these are collected; a test run refuses others.
        patch.setattr(pytest.mark, "_config", None, raising=False)
        if any(load(course, course.root / file) for file in files):
            forget_checks(course.root / CHECKS, also_own=True)
            return None
    return tuple(_check(course, owner, data) for owner, data in entries)


def _check(course: Course, owner: str, data: dict[str, Any]) -> Check:
    exercise, visibility, name = data["id"].split("::")
    class_, function = _found(course, data["file"], owner, name)
    return Check(
        **{**data, "visibility": Visibility(visibility), "asks_for": tuple(data["asks_for"])},
        exercise=course.exercises[exercise],
        title=title_of(course, function),
        owner=class_,
        function=function,
    )


def _found(course: Course, file: str, owner: str, name: str) -> tuple[Any, Any]:
    """A class, and the function that is a method of it; None for what is not there."""
    try:
        class_ = attrgetter(owner)(loaded(course, course.root / file))
    except (AttributeError, KeyError):
        return None, None
    return class_, getattr(class_, name, None)
