"""`grader show` with its options and its help; `show` does its work."""

from pathlib import Path
from typing import Any

import click

from grader.cli.edge import Done, lang_option, open_course
from grader.cli.spoken_help import SpokenCommand


@click.command(cls=SpokenCommand)
@click.argument("target", default="", metavar="[TARGET]")
@click.option("--text", help='Show other words, like --text "A few of your own"; at most 12.')
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with sliders; it needs no network.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
@lang_option
def show(lang: str | None, **options: Any) -> None:
    """Show what your own code makes of the course's text.

    TARGET is an assignment or an exercise, as for `grader check`; nothing means the last one in
    the course that you have solved. What is not solved yet is shown as your code gives it now.

    Exits with 0; with 1 when your code gives nothing that can be shown; with 2 for a wrong command
    or course.
    """
    from grader.cli.show import ShowOptions, run_show

    raise Done(run_show(open_course(lang), ShowOptions(**options)))
