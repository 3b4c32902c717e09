"""`grader new`: writes what it makes, and says what comes next."""

from collections.abc import Sequence
from pathlib import Path

import click

from grader.authoring.new import (
    NewExercise,
    class_like,
    new_assignment,
    new_course,
    new_exercise,
)
from grader.cli.edge import from_here
from grader.core.errors import UsageError
from grader.core.files import OutputFile, write_all
from grader.course.course import Course


def run_new_course(folder: Path, title: str) -> None:
    """Write a small complete course.

    Args:
        folder: empty, or not there yet; a repository without files is empty.
        title: the course's; made from the folder's name where it is "".

    Raises:
        UsageError: when the folder is not empty, or cannot be written.
    """
    is_free = not folder.exists() or folder.is_dir()
    if not is_free or (folder.is_dir() and any(p.name != ".git" for p in folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder. Give one that is, or does not exist.")
    made_from = folder.absolute().name.replace("_", " ").replace("-", " ").capitalize()
    made = new_course(title or made_from)
    _write(made, folder)
    click.echo(f"A course of one assignment is in {folder}: two exercises, each with its checks.")
    click.echo(f"Next: cd {folder}, and `make test` (or `grader validate`, where it is installed).")


def run_new_assignment(
    course: Course, name: str, title: str, exercises: Sequence[str], points: float
) -> None:
    """Add an assignment to a course.

    Args:
        course: the course.
        name: the assignment's, with or without a number.
        title: its title; made from its name where it is "".
        exercises: the names of those it begins with.
        points: what each is worth.

    Raises:
        UsageError: when a name cannot be one, or is there already.
        CourseError: when the course has a problem.
    """
    course.require_solutions()
    made = new_assignment(course, name, title, exercises, points)
    _write(made, course.root)
    _say_next(made[1].path.split("/")[1])


def run_new_exercise(
    course: Course, name: str, points: float, *, is_class: bool, after: str
) -> None:
    """Add an exercise to an assignment.

    Args:
        course: the course.
        name: the assignment's name, a slash, the exercise's name.
        points: what it is worth.
        is_class: whether students write a class, also where its name does not look like one.
        after: the exercise that it follows; the assignment's last one where it is "".

    Raises:
        UsageError: when a name cannot be one, or is there already.
        CourseError: when the course has a problem.
    """
    course.require_solutions()
    assignment, slash, own = name.rpartition("/")
    if not slash:
        raise UsageError(f"Say in which assignment: grader new exercise 05/{name}, for example.")
    exercise = NewExercise(own, points, is_class or class_like(own), after)
    made = new_exercise(course, assignment, exercise)
    _write(made, course.root)
    _say_next(f"{course.assignment(assignment).id}/{own}")


def _write(made: Sequence[OutputFile], folder: Path) -> None:
    write_all(made, folder)
    for file in made:
        click.echo(f"written: {from_here(folder / file.path)}")


def _say_next(target: str) -> None:
    click.echo(
        f"Next: write what stands at each TODO(author). `grader validate {target}` names those that "
        f"are left, with --watch at each save; `grader preview {target}` shows what students see."
    )
