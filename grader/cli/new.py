"""`grader new`: writes what it makes, and says what comes next."""

from collections.abc import Sequence
from pathlib import Path

import click

from grader.authoring import new as authoring
from grader.cli.shared import current_course, from_here
from grader.core.errors import UsageError
from grader.core.files import OutputFile, write_all

points_option = click.option(
    "--points", type=float, default=2.0, show_default=True, help="What an exercise is worth."
)


@click.group()
def new() -> None:
    """Create a course, an assignment or an exercise.

    What is written works at once, and says TODO(author) where it wants your words and your code;
    `grader validate` names each such place with its line. Nothing that is there is overwritten.
    """


@new.command("course")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--title", default="", help="The course's title.  [default: made from DIR]")
@click.option(
    "--assignment",
    default=authoring.STARTER,
    metavar="NAME",
    help="Its assignment's name.",
    show_default=True,
)
@click.option(
    "--torch", "kind", flag_value="torch", default=True, help="Exercises with tensors.  [default]"
)
@click.option("--numpy", "kind", flag_value="numpy", help="Exercises with numpy's arrays.")
@click.option("--plain", "kind", flag_value="plain", help="Exercises with Python's own values.")
def new_course(folder: Path, title: str, assignment: str, kind: str) -> None:
    """Write a small complete course into DIR.

    DIR is an empty folder or a new one. It gets two exercises with their checks, known mistakes and
    hints, two students for `grader grade`, a Makefile and a workflow. `make test` proves it from
    the first minute; then change it into yours.
    """
    is_free = not folder.exists() or folder.is_dir()
    if not is_free or (folder.is_dir() and any(p.name != ".git" for p in folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder. Give one that is, or does not exist.")
    made_from = folder.absolute().name.replace("_", " ").replace("-", " ").capitalize()
    made = authoring.new_course(title or made_from, assignment, kind)
    _write(made, folder)
    click.echo(f"A course of one assignment is in {folder}: two exercises, each with its checks.")
    click.echo(f"Next: cd {folder}, and `make test` (or `grader validate`, where it is installed).")


@new.command("assignment")
@click.argument("name")
@click.option("--title", default="", help="The assignment's title.  [default: made from NAME]")
@click.option(
    "--exercise",
    "exercises",
    multiple=True,
    metavar="NAME",
    help="An exercise to begin with; may be given more than once.  [default: one named like NAME]",
)
@points_option
def new_assignment(name: str, title: str, exercises: tuple[str, ...], points: float) -> None:
    """Add an assignment to the course.

    NAME is like 12_row_sums; without digits it gets the next number. It begins with one exercise,
    or with those that --exercise names; a name like RowSums is a class's. `grader new exercise
    12/NAME` adds more.
    """
    course = current_course()
    course.require_solutions()
    made = authoring.new_assignment(course, name, title, exercises, points)
    _write(made, course.root)
    _say_next(made[1].path.split("/")[1])


@new.command("exercise")
@click.argument("name", metavar="ASSIGNMENT/NAME")
@click.option(
    "--class",
    "is_class",
    is_flag=True,
    help="Students write a class; a name like RowSums says so by itself.",
)
@points_option
@click.option("--after", default="", metavar="OTHER", help="The exercise that it follows.")
def new_exercise(name: str, is_class: bool, points: float, after: str) -> None:
    """Add an exercise to an assignment.

    For example 05/row_sums: the exercise row_sums in the assignment 05. This adds a line to
    course.toml, a cell to the solution, visible and hidden checks, a known mistake and hints, and
    writes stub and notebook.
    """
    course = current_course()
    course.require_solutions()
    assignment, slash, exercise = name.rpartition("/")
    if not slash:
        raise UsageError(f"Say in which assignment: grader new exercise 05/{name}, for example.")
    made_of = authoring.NewExercise(
        exercise, points, is_class or authoring.class_like(exercise), after
    )
    made = authoring.new_exercise(course, assignment, made_of)
    _write(made, course.root)
    _say_next(f"{course.assignment(assignment).id}/{exercise}")


def _write(made: Sequence[OutputFile], folder: Path) -> None:
    write_all(made, folder)
    for file in made:
        click.echo(f"written: {from_here(folder / file.path)}")


def _say_next(target: str) -> None:
    click.echo(
        f"Next: write what stands at each TODO(author). `grader validate {target}` names those that "
        f"are left, with --watch at each save; `grader preview {target}` shows what students see."
    )
