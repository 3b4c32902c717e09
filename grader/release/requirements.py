"""What a course's own code imports, as requirements: a copy is installed with it."""

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import packages_distributions, version
from pathlib import Path

from grader.course.check_helpers import imported_helpers, views_of
from grader.course.course import Course

OWN = ("grader", *sys.stdlib_module_names)
NAME = re.compile(r"[\w.-]+")


def requirements_of(course: Course, known: Iterable[str], hidden: bool = False) -> list[str]:
    """What the solutions and the visible checks import, and `packages` of course.toml names.

    Each is asked for from the version on that is installed here.

    Args:
        course: the course.
        known: requirements that are there already.
        hidden: whether what hidden checks import counts as well.
    """
    own = {*OWN, *(assignment.module for assignment in course.assignments)}
    own |= {Path(name).parts[0].removesuffix(".py") for name in course.data_files}
    names = {name.partition(".")[0] for name in course.limits.packages}
    names |= {name for file in _files(course, hidden) for name in _imported(file)}
    there = {_plain(line) for line in known}
    installed = installed_distributions()
    # By the module's name where it is not installed.
    found = {min(installed.get(name, [name])) for name in names - own}
    versioned = {name for names in installed.values() for name in names}
    return sorted(
        _required(name) if name in versioned else name
        for name in found
        if _plain(name) not in there
    )


@functools.cache
def installed_distributions() -> Mapping[str, list[str]]:
    """What is installed here, by the names of its top-level modules: all metadata is read once."""
    return packages_distributions()


def _files(course: Course, hidden: bool) -> Iterator[Path]:
    for assignment in course.assignments:
        paths = course.paths(assignment)
        yield paths.solution
        checks = (paths.visible_checks, *((paths.hidden_checks,) if hidden else ()))
        yield from (*checks, *imported_helpers(checks))
    shown = views_of(course)
    yield from (*shown, *imported_helpers(shown))


def _imported(file: Path) -> Iterator[str]:
    """The first parts of what a file imports, but for what lies beside it."""
    try:
        tree = ast.parse(file.read_bytes() if file.is_file() else b"")
    except (SyntaxError, ValueError):  # told where the file is loaded
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name.partition(".")[0] for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def _required(name: str) -> str:
    return f"{name}>={'.'.join(version(name).split('.')[:2])}"


def _plain(requirement: str) -> str:
    """The name of what is required, as indexes compare it."""
    match = NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""
