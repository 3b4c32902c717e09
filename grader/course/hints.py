"""Hints for an exercise: a question first, then where to look, the last points at the equation."""

from pathlib import Path

from grader.core.errors import CourseError
from grader.course.course import Assignment
from grader.course.toml_table import read_toml

LEAST = 2


def read_hints(assignment: Assignment, path: Path) -> dict[str, tuple[str, ...]]:
    """The hints of each exercise of an assignment, by its short name.

    Raises:
        CourseError: with every problem found.
    """
    problems: list[str] = []
    table = read_toml(path, problems, f"{assignment.id}/")
    hints = {name: table.texts(name) for name in table.entries()}
    names = [exercise.name for exercise in assignment.exercises]
    problems += [f"{table.file}: {name}: no such exercise" for name in hints if name not in names]
    problems += [
        f"{table.file}: {name}: found {_count(len(hints.get(name, ())))}; at least {LEAST} are needed"
        for name in names
        if len(hints.get(name, ())) < LEAST
    ]
    if problems:
        raise CourseError(*problems)
    return hints


def _count(number: int) -> str:
    return "1 hint" if number == 1 else f"{number} hints"
