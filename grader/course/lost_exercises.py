"""Exercises that a course's files still have and `course.toml` does not: removed, or renamed."""

import re
from collections.abc import Iterable
from pathlib import Path

from grader.core.errors import CourseError
from grader.course.course import MANIFEST, SOLUTIONS, Assignment

CELL = re.compile(r'^# %%.*\bexercise="(\w+)"', re.MULTILINE)


def require_listed(
    assignment: Assignment, solution: Path, named: Iterable[str] | None = None
) -> None:
    """Do nothing where `course.toml` lists each exercise that an assignment's solution has.

    Whoever reads another file of the assignment asks here first, so that one change of the
    manifest is one sentence, whatever it concerns.

    Args:
        assignment: which.
        solution: its solution.
        named: the exercises that the other file names; those of the solution unless given.

    Raises:
        CourseError: with a sentence for each exercise that is not listed any more.
    """
    text = solution.read_text("utf-8", "replace") if solution.is_file() else ""
    marked, listed = CELL.findall(text), [exercise.name for exercise in assignment.exercises]
    lost = [name for name in dict.fromkeys(marked) if name not in listed]
    new = [name for name in listed if name not in marked]
    if lost and (named is None or {*named} & {*lost}):
        place = f"{SOLUTIONS}/{assignment.id}/{solution.name}"
        raise CourseError(*(_sentence(assignment, name, new, place) for name in lost))


def _sentence(assignment: Assignment, name: str, new: list[str], place: str) -> str:
    files = f"{place}, in the checks, in misconceptions.toml and in hints.toml"
    return (
        f"{MANIFEST}: {assignment.id} does not list the exercise {name!r}, which {place} still has. To "
        f"take it out of the score, write `{name} = 0`, and change nothing else. To rename it to "
        f"{' or '.join(new) or 'another name'}, write that name in {files}. To remove it, remove it "
        "there as well."
    )
