"""`grader import`: a notebook of another grader as an assignment of the course."""

from pathlib import Path

import click

from grader.cli.shared import FILE, FOLDER, ExitCode, current_course, from_here
from grader.core.errors import UsageError
from grader.core.text import clean
from grader.course.course import MANIFEST


@click.command("import")
@click.argument("system", type=click.Choice(["otter", "nbgrader"]))
@click.argument("notebook", metavar="FILE", type=FILE)
@click.option(
    "--to",
    "folder",
    type=FOLDER,
    help="An empty folder, or one that does not exist: it becomes a course with this assignment.",
)
@click.option(
    "--assignment",
    default="",
    metavar="ID",
    help="The new assignment's id, like 01_first_steps; made of the file's name unless said.",
)
def import_(system: str, notebook: Path, folder: Path | None, assignment: str) -> ExitCode:
    """Turn a notebook written for otter-grader or nbgrader into an assignment.

    Solutions, points and tests become exercises with checks. Each test is run on the solution, which
    has to pass it, and on the stub, which has to fail; what could not be carried over is listed with
    its cell. Without --to, the assignment is added to the course of the current folder. All files are
    written, or none, and nothing is overwritten.

    Exits with 0; with 2 when the notebook cannot be read, or something is there already.
    """
    from grader.extras.importing.write import import_notebook

    if folder is not None and (folder / MANIFEST).is_file():
        raise UsageError(f"{folder} is a course already. Run the command in it, without --to.")
    course = current_course() if folder is None else None
    if course is not None:
        course.require_solutions()
    root = folder if course is None else course.root
    written = import_notebook(system, notebook, root or Path(), assignment)
    new = written.assignment
    count = len(new.exercises)
    exercises = "1 exercise" if count == 1 else f"{count} exercises"
    click.echo(f"{new.id}: {exercises}, {new.max_score} points")
    for path in written.paths:
        click.echo(f"written: {from_here((root or Path()) / path)}")
    total = written.whole + written.open
    click.echo(f"Tests that became checks: {written.whole} of {total}.")
    if written.notes:
        click.echo("Not carried over, or to be looked at:")
    for note in written.notes:
        click.echo(f"  {clean(str(note), 500)}")
    click.echo(f"`grader validate {new.id[:2]}` says what is left to decide.")
    return ExitCode.FINE
