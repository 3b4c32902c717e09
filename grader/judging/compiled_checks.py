"""Checks as they were collected before, as data: their modules are loaded without pytest's collector."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from grader.core.language import _
from grader.core.records import Visibility
from grader.course.course import CHECKS, Course
from grader.judging.modules import forget_checks, load, loaded
from grader.judging.run import Check

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
