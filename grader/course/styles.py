"""Right ways to write an exercise, which differ: `solutions/<assignment>/styles.toml`."""

import ast
from collections import defaultdict
from dataclasses import dataclass

from grader.course.course import SOLUTIONS, Assignment, Course, no_exercise
from grader.course.toml_table import Text, TomlFile

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


@dataclass(frozen=True, slots=True)
class Entry:
    """A style of an exercise, by its short name, as it stands in the file."""

    exercise: Text
    name: Text
    code: Text
    why: Text


def read_styles(course: Course, assignment: Assignment) -> dict[str, tuple[Style, ...]]:
    """The styles of an assignment's exercises, by short name; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).styles
    if not path.is_file():
        return {}
    file = TomlFile(path, f"{SOLUTIONS}/{assignment.id}/")
    styles: dict[str, list[Style]] = defaultdict(list)
    for number, entry in enumerate(file.read_tables("styles", Entry), 1):
        code = entry.code.strip("\n")
        if sentence := no_exercise(assignment, entry.exercise):
            file.note(f"styles[{number}]", sentence)
        try:
            ast.parse(code)
        except SyntaxError as error:
            file.note(f"styles[{number}].code", f"line {error.lineno}: SyntaxError: {error.msg}")
        styles[entry.exercise].append(Style(entry.name, code, entry.why))
    for name, found in styles.items():
        if len(found) < LEAST:
            file.note(name, f"found 1 style; at least {LEAST} are needed")
    file.finish()
    return {name: tuple(found) for name, found in styles.items()}
