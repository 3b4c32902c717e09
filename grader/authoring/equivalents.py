"""Mutants that somebody proved to be right, with the reason: `solutions/<assignment>/equivalent.toml`."""

from dataclasses import dataclass

from grader.core.errors import CourseError
from grader.course.course import SOLUTIONS, Assignment, Course
from grader.course.toml_table import read_toml


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that does what the solution does.

    Args:
        place: where it is written down, as file and key path.
        exercise: the id of the exercise it is in.
        old: the line of the solution.
        new: what it becomes.
    """

    place: str
    exercise: str
    old: str
    new: str


def read_equivalents(course: Course, assignment: Assignment) -> tuple[Equivalent, ...]:
    """The mutants of an assignment that are written down; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).equivalent
    if not path.is_file():
        return ()
    problems: list[str] = []
    table = read_toml(path, problems, f"{SOLUTIONS}/{assignment.id}/")
    found = []
    for entry in table.tables("equivalent"):
        entry.text("reason")
        place = f"{entry.file}: {entry.key_path}"
        exercise = f"{assignment.id}/{entry.text('exercise')}"
        found.append(Equivalent(place, exercise, entry.text("old"), entry.text("new")))
        if exercise not in course.exercises:
            problems.append(f"{place}: there is no exercise {exercise}")
    table.forbid_unknown_keys()
    if problems:
        raise CourseError(*problems)
    return tuple(found)
