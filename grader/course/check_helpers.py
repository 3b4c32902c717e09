"""What several checks share: `tests/checks/helpers.py`, and one beside an assignment's checks.

Checks import them by `from ..helpers import …` and `from .helpers import …`. A helper that visible
checks import is released with them. Views stand in `views.py` beside either, predictions in
`predictions.py`; all are released.
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from grader.course.course import CHECKS, PREDICTIONS, VIEWS, Assignment, Course

HELPERS = "helpers"
IMPORTS = re.compile(rf"^[ \t]*from (\.+)({HELPERS}|{Path(VIEWS).stem}) import\b", re.MULTILINE)
"""How a file imports helpers or views: a dot for each level, and which of them."""


def helpers_of(course: Course) -> tuple[Path, ...]:
    """The helpers of the course, and of each assignment, that there are."""
    return _beside_checks(course, f"{HELPERS}.py")


def views_of(course: Course) -> tuple[Path, ...]:
    """The files of views and predictions, of the course and of each assignment, that there are."""
    return (*_beside_checks(course, VIEWS), *_beside_checks(course, PREDICTIONS))


def _beside_checks(course: Course, name: str) -> tuple[Path, ...]:
    folders = [course.root / CHECKS]
    folders += [course.paths(assignment).visible_checks.parent for assignment in course.assignments]
    return tuple(folder / name for folder in folders if (folder / name).is_file())


def imported_helpers(files: Iterable[Path]) -> tuple[Path, ...]:
    """What files of checks, or views, import beside them, and what that imports, which comes first."""
    found: dict[Path, None] = {}
    for file in files:
        own = [path for path in _imported(file) if path not in found]
        found |= dict.fromkeys((*imported_helpers(own), *own))
    return tuple(found)


def hidden_helpers(course: Course) -> tuple[Path, ...]:
    """The helpers that no visible check or view imports, so that only authors receive them."""
    visible = (course.paths(assignment).visible_checks for assignment in course.assignments)
    seen = imported_helpers((*visible, *views_of(course)))
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
    text = file.read_text("utf-8", "replace") if file.is_file() else ""
    named = sorted({(-len(dots), name) for dots, name in IMPORTS.findall(text)})
    paths = (file.parents[-level - 1] / f"{name}.py" for level, name in named)
    return [path for path in paths if path.is_file() and path != file]


def predicted(course: Course, assignment: Assignment) -> tuple[str, ...]:
    """The exercises of an assignment, by short name, that a prediction is declared for."""
    path = course.root / CHECKS / assignment.id / PREDICTIONS
    try:
        tree = ast.parse(path.read_text("utf-8")) if path.is_file() else ast.Module([], [])
    except (SyntaxError, ValueError):  # told where the file is loaded
        return ()
    marks = (mark for node in tree.body for mark in getattr(node, "decorator_list", ()))
    calls = (mark for mark in marks if isinstance(mark, ast.Call) and mark.args)
    named = {getattr(c.args[0], "value", "") for c in calls if ast.unparse(c.func) == "prediction"}
    return tuple(exercise.name for exercise in assignment.exercises if exercise.name in named)


def predicted_ids(course: Course) -> tuple[str, ...]:
    """The ids of all exercises that a prediction is declared for, in the order of the course."""
    return tuple(f"{a.id}/{name}" for a in course.assignments for name in predicted(course, a))
