"""`grader release`: what students or a platform receive."""

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from grader.cli.progress import counted
from grader.cli.shared import FOLDER, cores, current_course
from grader.core.entry_points import entries, load
from grader.core.language import resolve
from grader.course.course import Course

RELEASES = "grader.releases"


@click.command()
@click.argument("dest", type=FOLDER)
@click.option(
    "--to",
    "audience",
    type=click.Choice([*entries(RELEASES)]),
    required=True,
    help="A copy for students, a course folder for nbgrader, a student repository with a workflow, or an autograder's zip.",
)
@click.option(
    "--lang",
    metavar="CODE",
    help="Stubs, notebooks and README in the language of this code.  [default: the course's, or en]",
)
def release(dest: Path, audience: str, lang: str | None) -> None:
    """Write a release for students or a platform into DEST.

    Nothing for students has a solution or a hidden check in it. The zip for Gradescope has both,
    because it grades there: upload it as the autograder and give it to nobody else.

    For nbgrader it is the instructor's course folder: its source notebooks hold the solutions, and
    `nbgrader generate_assignment` makes from them what students receive.

    Exits with 0, or with 2 when the course is not ready or DEST is not empty.
    """
    course = current_course()
    if lang:
        course = replace(course, language=resolve(lang, more=course.languages))
    from grader.release.students import write_release

    to = load(entries(RELEASES)[audience])
    released = write_release(course, dest, to, _record_missing)
    size = sum(len(file.data) for file in released)
    count = "1 file" if len(released) == 1 else f"{len(released)} files"
    click.echo(f"Released to {audience}: {count}, {size / 1024:.0f} KiB, in {dest}")
    if note := to.note(released):
        click.echo(note)


def _record_missing(course: Course) -> None:
    """Make the recordings that are not kept yet, and show how far that is."""
    from grader.release.students import record_missing

    number, recordings = record_missing(course, cores())
    if number:
        for _done in counted(Console(stderr=True), "Recording assignments", number, recordings):
            pass
