"""What several checks share: `tests/checks/helpers.py`, and one beside an assignment's checks.

Checks import them by `from ..helpers import …` and `from .helpers import …`. A helper that visible
checks import is released with them.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

from grader.course.course import CHECKS, Course

HELPERS = "helpers"


def helpers_of(course: Course) -> tuple[Path, ...]:
    """The helpers of the course, and of each assignment, that there are."""
    folders = [course.root / CHECKS]
    folders += [course.paths(assignment).visible_checks.parent for assignment in course.assignments]
    paths = (folder / f"{HELPERS}.py" for folder in folders)
    return tuple(path for path in paths if path.is_file())


def imported_helpers(files: Iterable[Path]) -> tuple[Path, ...]:
    """The helpers that files of checks import, and those that these import, which come first."""
    found: dict[Path, None] = {}
    for file in files:
        own = [path for path in _imported(file) if path not in found]
        found |= dict.fromkeys((*imported_helpers(own), *own))
    return tuple(found)


def hidden_helpers(course: Course) -> tuple[Path, ...]:
    """The helpers that no visible check imports, so that nobody but authors receives them."""
    visible = (course.paths(assignment).visible_checks for assignment in course.assignments)
    seen = imported_helpers(visible)
    return tuple(path for path in helpers_of(course) if path not in seen)


def hidden_data(course: Course) -> tuple[Path, ...]:
    """The JSON files beside hidden checks that these name: what they load, and nobody receives."""
    found = []
    for assignment in course.assignments:
        hidden = course.paths(assignment).hidden_checks
        text = hidden.read_bytes() if hidden.is_file() else b""
        found += [p for p in sorted(hidden.parent.glob("*.json")) if p.name.encode() in text]
    return tuple(found)


def _imported(file: Path) -> list[Path]:
    try:
        tree = ast.parse(file.read_bytes() if file.is_file() else b"")
    except (SyntaxError, ValueError):  # told where the file is collected
        return []
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    levels = [node.level for node in imports if node.level and node.module == HELPERS]
    paths = (file.parents[level - 1] / f"{HELPERS}.py" for level in sorted(levels, reverse=True))
    return [path for path in paths if path.is_file() and path != file]
