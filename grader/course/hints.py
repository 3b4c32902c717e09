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
    try:
        table = read_toml(path, problems)
    except CourseError as error:
        raise CourseError(*(f"{assignment.id}/{problem}" for problem in error.problems)) from error
    hints = {name: table.texts(name) for name in table.entries()}
    names = [exercise.name for exercise in assignment.exercises]
    problems += [f"{path.name}: {name}: no such exercise" for name in hints if name not in names]
    problems += [
        f"{path.name}: {name}: found {_count(len(hints.get(name, ())))}; at least {LEAST} are needed"
        for name in names
        if len(hints.get(name, ())) < LEAST
    ]
    if problems:
        raise CourseError(*(f"{assignment.id}/{problem}" for problem in problems))
    return hints


def _count(number: int) -> str:
    return "1 hint" if number == 1 else f"{number} hints"
