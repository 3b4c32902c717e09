"""Hints for an exercise: a question first, then where to look, the last points at the equation."""

from pathlib import Path

from grader.core.errors import CourseError
from grader.course.course import SOLUTIONS, Assignment
from grader.course.lost_exercises import require_listed
from grader.course.toml_table import read_toml

LEAST = 2


def read_hints(assignment: Assignment, path: Path) -> dict[str, tuple[str, ...]]:
    """The hints of each exercise of an assignment, by its short name.

    Raises:
        CourseError: with every problem found.
    """
    require_listed(assignment, path.with_name(f"{assignment.module}.py"))
    problems: list[str] = []
    table = read_toml(path, problems, f"{SOLUTIONS}/{assignment.id}/")
    hints = {name: table.texts(name) for name in table.entries()}
    counts = {e.name: len(hints.get(e.name, ())) for e in assignment.exercises}
    problems += [f"{table.file}: {name}: no such exercise" for name in hints if name not in counts]
    for name, count in counts.items():
        if count < LEAST:
            found = f"{count} hint{'' if count == 1 else 's'}"
            problems.append(f"{table.file}: {name}: found {found}; at least {LEAST} are needed")
    if problems:
        raise CourseError(*problems)
    return hints
