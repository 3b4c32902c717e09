"""`grader new` and `grader preview`, with their options and their help."""

from pathlib import Path

import click

from grader.cli.edge import current_course, lang_option, open_course

points_option = click.option(
    "--points", type=float, default=2.0, show_default=True, help="What an exercise is worth."
)


@click.group()
def new() -> None:
    """Begin a course, an assignment or an exercise.

    What is written works at once, and says TODO(author) where it wants your words and your code;
    `grader validate` names each such place with its line. Nothing that is there is overwritten.
    """


@new.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--title", default="", help="The course's title.  [default: made from DIR]")
def course(folder: Path, title: str) -> None:
    """Write a small complete course into DIR.

    DIR is an empty folder or a new one. It gets two exercises with their checks, known mistakes and
    hints, two students for `grader grade`, a Makefile and a workflow. `make test` proves it from
    the first minute; then change it into yours.
    """
    from grader.cli.new import run_new_course

    run_new_course(folder, title)


@new.command()
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
def assignment(name: str, title: str, exercises: tuple[str, ...], points: float) -> None:
    """Add an assignment to the course.

    NAME is like 12_row_sums; without digits it gets the next number. It begins with one exercise,
    or with those that --exercise names; a name like RowSums is a class's. `grader new exercise
    12/NAME` adds more.
    """
    from grader.cli.new import run_new_assignment

    run_new_assignment(current_course(), name, title, exercises, points)


@new.command()
@click.argument("name", metavar="ASSIGNMENT/NAME")
@click.option(
    "--class",
    "is_class",
    is_flag=True,
    help="Students write a class; a name like RowSums says so by itself.",
)
@points_option
@click.option("--after", default="", metavar="OTHER", help="The exercise that it follows.")
def exercise(name: str, is_class: bool, points: float, after: str) -> None:
    """Add an exercise to an assignment.

    For example 05/row_sums: the exercise row_sums in the assignment 05. This adds a line to
    course.toml, a cell to the solution, visible and hidden checks, a known mistake and hints, and
    writes stub and notebook.
    """
    from grader.cli.new import run_new_exercise

    run_new_exercise(current_course(), name, points, is_class=is_class, after=after)


@click.command()
@click.argument("target")
@click.option(
    "--mistake", default="", metavar="ID", help="Only what is said of this known mistake."
)
@lang_option
def preview(target: str, mistake: str, lang: str | None) -> None:
    """Show an assignment or an exercise as students will see it.

    The stub, the notebook's cells, and what `grader check` says of the stub, of the solution, and of
    each known mistake. TARGET is an assignment or an exercise, as for `grader check`.
    """
    from grader.cli.preview import run_preview

    run_preview(open_course(lang), target, mistake)
