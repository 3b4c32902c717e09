"""Right ways to write an exercise, which differ: `solutions/<assignment>/styles.toml`."""

import ast
from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from grader.core.errors import CourseError
from grader.course.course import SOLUTIONS, Assignment, Course
from grader.course.toml_table import Table, read_toml

LEAST = 2


@dataclass(frozen=True, slots=True)
class Style:
    """One right way to write an exercise.

    Args:
        name: what to call it, like "loop".
        code: the whole definition.
        why: a sentence that says why it does the same as the others.
    """

    name: str
    code: str
    why: str


def read_styles(course: Course, assignment: Assignment) -> dict[str, tuple[Style, ...]]:
    """The styles of an assignment's exercises, by short name; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).styles
    if not path.is_file():
        return {}
    problems: list[str] = []
    table = read_toml(path, problems, f"{SOLUTIONS}/{assignment.id}/")
    names = [exercise.name for exercise in assignment.exercises]
    found = [(entry.choice("exercise", names), _style(entry)) for entry in table.tables("styles")]
    table.forbid_unknown_keys()
    problems += [
        f"{table.file}: {name}: found 1 style; at least {LEAST} are needed"
        for name, count in Counter(name for name, _ in found).items()
        if name and count < LEAST
    ]
    if problems:
        raise CourseError(*problems)
    groups = groupby(sorted(found, key=lambda pair: pair[0]), lambda pair: pair[0])
    return {name: tuple(style for _, style in pairs) for name, pairs in groups}


def _style(entry: Table) -> Style:
    style = Style(entry.text("name"), entry.text("code").strip("\n"), entry.text("why"))
    try:
        ast.parse(style.code)
    except SyntaxError as error:
        entry.note("code", f"line {error.lineno}: SyntaxError: {error.msg}")
    return style
