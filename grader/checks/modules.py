"""Loads a course's own files beside its checks: helpers, views."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from grader.course.course import Course


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
        return f"{course.inner(path)}: {type(error).__name__}: {error}"
    return ""


def forget_checks(folder: Path, *, also_own: bool = False) -> None:
    """Let go of the check files and helpers of other courses, whose modules have the same names.

    Args:
        folder: this course's checks.
        also_own: this course's, too: Python keeps the module of a file that failed to load, and
            the next submission would find it without its checks.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        is_check = bool(file) and name.startswith("tests.checks.")
        if is_check and (also_own or not Path(file).is_relative_to(folder)):
            del sys.modules[name]
