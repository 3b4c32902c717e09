"""Collects graded checks; `grader.judging.run` calls them.

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
take less). Names, marks and the order of what is inherited mean what they mean to pytest.
"""

import inspect
import sys
from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.core.errors import CourseError, GraderFault
from grader.core.language import _
from grader.core.records import Visibility
from grader.course.course import CHECKS, Course
from grader.course.lost_exercises import require_listed
from grader.judging.fixtures import Fixtures
from grader.judging.modules import forget_checks, load_all, loaded
from grader.judging.run import Check

FILES = {"test_visible.py": Visibility.VISIBLE, "test_hidden.py": Visibility.HIDDEN}
FIXTURES = ("attempt", *(fixture.name for fixture in fields(Fixtures)))

LEAST_MIB = 16
"""With less, a right and small call can lack memory for what Python itself needs."""

Marks = dict[str, pytest.Mark | pytest.MarkDecorator]
"""The marks of a check, of its class and its module by name: the closest of each."""


def describe_check(course: Course, path: Path, owner: type, name: str) -> Check:
    """What a test function declares.

    Args:
        course: the course.
        path: the file of checks.
        owner: the class that it is a method of.
        name: its own.

    Raises:
        CourseError: when it declares no exercise of its assignment, or lacks a docstring.
    """
    function, assignment, visibility = getattr(owner, name), path.parent.name, FILES[path.name]
    place = "::".join((course.inner(path), *owner.__qualname__.split("."), name))
    marks = _marks(function, owner, sys.modules[owner.__module__])
    id_ = f"{assignment}/{_argument(marks, 'exercise', '')}"
    if id_ not in course.exercises:
        if assignment in course.by_id:
            paths = course.paths(course.by_id[assignment])
            require_listed(course.by_id[assignment], paths.solution, [id_.partition("/")[2]])
        raise CourseError(f"{place}: it is marked with no exercise of its assignment")
    sentence = " ".join((function.__doc__ or "").split())
    if not sentence:
        raise CourseError(f"{place}: its docstring is the sentence the student reads")
    asks_for = tuple(inspect.signature(function).parameters)[1:]  # besides itself
    unknown = [f"`{asked}`" for asked in asks_for if asked not in FIXTURES]
    if unknown or "parametrize" in marks:
        what = next(iter(unknown), "parameters")
        raise CourseError(f"{place}: it asks for {what}; checks have {', '.join(FIXTURES)}")
    return Check(
        id=f"{id_}::{visibility}::{name}",
        exercise=course.exercises[id_],
        visibility=visibility,
        title=course.text(_(sentence)),
        weight=0 if "remark" in marks else _argument(marks, "weight", 1),
        is_gate="gate" in marks,
        is_remark="remark" in marks,
        is_conduct="conduct" in marks,
        guessable=_argument(marks, "guessable", ""),
        owner=owner,
        function=function,
        asks_for=asks_for,
        deepens=_argument(marks, "deepens", ""),
        memory_mib=_memory(place, marks),
        file=course.inner(path),
    )


def _marks(*holders: Any) -> Marks:
    """The marks of a function and of what is around it; those of base classes come first."""
    found: Marks = {}
    for holder in holders:
        for base in reversed(getattr(holder, "__mro__", (holder,))):
            listed = vars(base).get("pytestmark", [])
            for mark in listed if isinstance(listed, list | tuple) else [listed]:
                found.setdefault(mark.name, mark)
    return found


def _argument(marks: Marks, name: str, default: Any) -> Any:
    """What a mark says; the default where it is missing."""
    return marks[name].args[0] if name in marks and marks[name].args else default


def _memory(place: str, marks: Marks) -> int:
    """The MiB that a check may use; 0 where it says none.

    Raises:
        CourseError: when it says something else.
    """
    if "memory" not in marks:
        return 0
    args, kwargs = marks["memory"].args, marks["memory"].kwargs
    mib = kwargs.get("mib")
    if args or len(kwargs) != 1 or type(mib) is not int or mib < LEAST_MIB:
        whole = f"a whole number of at least {LEAST_MIB}"
        raise CourseError(f"{place}: memory(mib=…) takes {whole}")
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
    folder = course.root / CHECKS
    forget_checks(folder, also_own=True)  # this process may have loaded older files
    if faults := load_all(course, files):
        forget_checks(folder, also_own=True)
        raise GraderFault("checks could not be collected: " + "; ".join(faults))
    found: list[Check] = []
    problems: list[str] = []
    for path in files:
        for owner, name in _functions(loaded(course, path)):
            try:
                if isinstance(owner, ModuleType):
                    what = "only methods of classes can be checks"
                    raise CourseError(f"{course.inner(path)}::{name}: {what}")
                found.append(describe_check(course, path, owner, name))
            except CourseError as error:
                problems += error.problems
    if problems:
        raise CourseError(*dict.fromkeys(problems))
    order = {id_: position for position, id_ in enumerate(course.exercises)}
    checks = [check for check in found if check.exercise.id in exercises]
    hidden = Visibility.HIDDEN
    checks.sort(key=lambda c: (c.visibility is hidden, order[c.exercise.id], *c.place))
    return tuple(checks)


def _functions(holder: ModuleType | type) -> Iterator[tuple[ModuleType | type, str]]:
    """The test functions of a module, or of a class, and what each of them is in."""
    members: dict[str, Any] = {}
    for base in reversed(holder.__mro__ if isinstance(holder, type) else (holder,)):
        for name, value in vars(base).items():
            members.pop(name, None)  # what is defined again stands where it was defined last
            members[name] = value
    for name, value in members.items():
        if isinstance(value, type) and name.startswith("Test"):
            yield from _functions(value)
        elif callable(value) and name.startswith("test"):
            yield holder, name


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
