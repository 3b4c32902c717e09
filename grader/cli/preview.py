"""`grader preview`: an assignment or an exercise as students will see it."""

from contextlib import closing
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from grader.cli.hint import hint_command, verbose_command
from grader.cli.render import print_check
from grader.cli.shared import course_option, from_here
from grader.cli.view import View, console
from grader.core.records import Result
from grader.course.course import Course

if TYPE_CHECKING:  # it imports torch
    from grader.authoring.preview import Released


@click.command()
@click.argument("target")
@click.option(
    "--mistake", default="", metavar="ID", help="Only what is said of this known mistake."
)
@course_option
def preview(course: Course, target: str, mistake: str) -> None:
    """Show an assignment or an exercise as students will see it.

    The stub, the notebook's cells, and what `grader check` says of the stub, of the solution, and of
    each known mistake. TARGET is an assignment or an exercise, as for `grader check`.
    """
    course.require_solutions()
    exercises = course.select((target,))
    from grader.authoring.preview import Trials, released
    from grader.judging.seal_probe import launcher_as_graded

    with closing(launcher_as_graded(course.packages)) as launcher:
        screen = console()
        if not mistake:
            _print_released(screen, released(course, exercises))
        trials = Trials(course, launcher)
        if not mistake:
            _print_said(screen, course, "What `check` says of the stub", trials.stub(exercises))
            solved = trials.solution(exercises)
            _print_said(screen, course, "What `check` says of the solution", solved)
        for known, result in trials.mistaken(exercises, mistake):
            name = f"{known.id} ({known.mistake.kind})"
            _print_said(screen, course, f"What `check` says of the known mistake {name}", result)


def _print_released(screen: Console, shown: "Released") -> None:
    _print_heading(screen, "The stub")
    screen.print(shown.stub, markup=False, soft_wrap=True)
    _print_heading(screen, "The notebook")
    for kind, text in shown.cells:
        screen.print(f"[{kind}]", style="dim", markup=False)
        screen.print(f"{text}\n", markup=False, soft_wrap=True)


def _print_said(screen: Console, course: Course, heading: str, result: Result) -> None:
    """Print what a student would read of a result."""
    _print_heading(screen, heading)
    view = View(
        from_here(course.work_folder), hint=hint_command(course), more=verbose_command(course, None)
    )
    print_check(result, screen, view)


def _print_heading(screen: Console, words: str) -> None:
    screen.print()
    screen.rule(Text(words, style="bold"), align="left")
    screen.print()
