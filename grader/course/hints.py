"""Hints for an exercise: a question first, then where to look, the last points at the equation."""

from pathlib import Path

from grader.course.course import SOLUTIONS, Assignment, no_exercise
from grader.course.lost_exercises import require_listed
from grader.course.toml_table import TomlFile

LEAST = 2


def read_hints(assignment: Assignment, path: Path) -> dict[str, tuple[str, ...]]:
    """The hints of each exercise of an assignment, by its short name.

    Raises:
        CourseError: with every problem found.
    """
    require_listed(assignment, path.with_name(f"{assignment.module}.py"))
    file = TomlFile(path, f"{SOLUTIONS}/{assignment.id}/")
    hints = file.read(dict[str, tuple[str, ...]])
    for name in hints:
        if no_exercise(assignment, name):
            file.note(name, "no such exercise")
    for exercise in assignment.exercises:
        count = len(hints.get(exercise.name, ()))
        if count < LEAST:
            sentence = f"found {count} hint{'' if count == 1 else 's'}; at least {LEAST} are needed"
            file.note(exercise.name, sentence)
    file.finish()
    return hints
