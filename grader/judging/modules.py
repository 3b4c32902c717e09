"""Loads a course's own files beside its checks: helpers, views, predictions."""

import sys
import traceback
from collections.abc import Collection, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

from grader.core.errors import CourseError
from grader.course.check_helpers import imported_helpers
from grader.course.course import CHECKS, Course

Kind = TypeVar("Kind")


def module_name(course: Course, path: Path) -> str:
    """The name by which files of checks import another one."""
    return ".".join(path.relative_to(course.root).with_suffix("").parts)


def loaded(course: Course, path: Path) -> ModuleType:
    """The module of a file that was loaded."""
    return sys.modules[module_name(course, path)]


def load(course: Course, path: Path) -> str:
    """Load a file under the name by which checks import it.

    Returns:
        Why it cannot be loaded; "" where it can.
    """
    name = module_name(course, path)
    spec = spec_from_file_location(name, path)
    if name in sys.modules or spec is None or spec.loader is None:
        return ""
    sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(sys.modules[name])
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception | pytest.fail.Exception):
            raise
        return f"{course.inner(path)}: {type(error).__name__}: {_why(path, error)}"
    return ""


def _why(path: Path, error: BaseException) -> str:
    """What an exception says; in a file of checks with the line."""
    if not path.name.startswith("test_"):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    tried = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in tried if frame.filename == str(path)]
    return f"{error} (line {lines[-1]})" if lines else str(error)


def load_all(course: Course, files: Sequence[Path]) -> list[str]:
    """Load files after the helpers that they import; why some cannot be loaded."""
    forget_checks(course.root / CHECKS)
    with pytest.MonkeyPatch.context() as patch:
        # Marks of checks are known only while these are collected; a test run refuses others.
        patch.setattr(pytest.mark, "_config", None, raising=False)
        helpers = [problem for path in imported_helpers(files) if (problem := load(course, path))]
        return helpers or [problem for path in files if (problem := load(course, path))]


def load_beside(
    course: Course, exercises: Collection[str], name: str, shared: Sequence[Path] = ()
) -> list[Path]:
    """Load the files of a name that stand beside the checks of some exercises.

    Args:
        course: the course.
        exercises: their ids.
        name: of the files.
        shared: files that are loaded before these, where there are any of them.

    Returns:
        The files, in the order of the exercises.

    Raises:
        CourseError: when one of them, or a helper that it imports, cannot be loaded.
    """
    folder = course.root / CHECKS
    ids = dict.fromkeys(course.exercises[id_].assignment for id_ in exercises)
    files = [path for id_ in ids if (path := folder / id_ / name).is_file()]
    if files and (problems := load_all(course, (*shared, *files))):
        raise CourseError(*problems)
    return files


def declared(course: Course, path: Path, kind: type[Kind]) -> list[Kind]:
    """What a loaded file has of a kind, in its order."""
    return [value for value in vars(loaded(course, path)).values() if isinstance(value, kind)]


def forget_checks(folder: Path, *, also_own: bool = False) -> None:
    """Let go of the check files and helpers of other courses, whose modules have the same names.

    Args:
        folder: this course's checks.
        also_own: this course's, too: Python keeps the module of a file that failed to load, and
            the next submission would find it without its checks.
    """
    for name in [name for name in sys.modules if name.startswith("tests.checks.")]:
        file = getattr(sys.modules[name], "__file__", None)
        if file and (also_own or not Path(file).is_relative_to(folder)):
            del sys.modules[name]
