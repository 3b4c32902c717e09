"""The command line: the only place that prints or exits.

Commands import what they need when they run, so that `grader --help` is quick.
"""

import sys
import traceback

import click

from grader.cli.author import catalogues, generate, release, validate
from grader.cli.check import check
from grader.cli.doctor import doctor
from grader.cli.edge import Done
from grader.cli.grade import grade
from grader.cli.gradescope import gradescope
from grader.cli.hint import hint
from grader.errors import CourseError, GraderError, UsageError
from grader.language import _, ngettext

USAGE_OR_COURSE_ERROR = 2
GRADERS_FAULT = 3


class Group(click.Group):
    """Turns the kit's exceptions into sentences and exit codes."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a traceback is shown only with --traceback."""
        try:
            return super().invoke(ctx)
        except GraderError as error:
            if ctx.params.get("traceback"):
                traceback.print_exc()
            click.echo(_sentence(error), err=True)
            is_usage = isinstance(error, UsageError | CourseError)
            ctx.exit(USAGE_OR_COURSE_ERROR if is_usage else GRADERS_FAULT)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("traceback"):
                traceback.print_exc()
            sentence = _("The grader itself failed: {reason}")
            click.echo(sentence.format(reason=f"{type(error).__name__}: {error}"), err=True)
            todo = _("Run it again with `grader --traceback …` and report what it prints.")
            click.echo(todo, err=True)
            ctx.exit(GRADERS_FAULT)


def _sentence(error: GraderError) -> str:
    if isinstance(error, CourseError):
        count = len(error.problems)
        head = ngettext("The course has a problem:", "The course has {count} problems:", count)
        head = head.format(count=count)
        return "\n".join([head, *(f"  {problem}" for problem in error.problems)])
    return str(error)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--traceback", is_flag=True, help="Show where in the code an error was raised.")
@click.version_option(package_name="attention-course", prog_name="grader")
def cli(traceback: bool) -> None:
    """Exercises on attention, and the grader that judges them.

    Students: `grader check` runs the visible checks on your work.

    Instructors: `grader grade SUBMISSIONS --out DIR` grades a class.
    """
    del traceback


for command in (check, hint, grade, validate, generate, catalogues, release, doctor, gradescope):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A Windows code page that lacks a sign shows another instead of failing.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        cli.main(prog_name="grader")
    except Done as done:
        done.leave()
