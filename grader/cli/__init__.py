"""The command line: the only place that prints or exits.

Commands import what they need when they run, so that `grader --help` is quick.
"""

import traceback

import click

from grader.cli.author import catalogues, generate, release, validate
from grader.cli.check import check
from grader.cli.doctor import doctor
from grader.cli.edge import Done
from grader.cli.grade import grade
from grader.cli.gradescope import gradescope
from grader.cli.hint import hint
from grader.cli.status import newcomer, status
from grader.cli.streams import echo, fit_streams
from grader.cli.watch import watch
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.language import _, ngettext

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
            echo(_sentence(error), err=True)
            is_usage = isinstance(error, UsageError | CourseError)
            ctx.exit(USAGE_OR_COURSE_ERROR if is_usage else GRADERS_FAULT)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("traceback"):
                traceback.print_exc()
            sentence = _("The grader itself failed: {reason}")
            echo(sentence.format(reason=f"{type(error).__name__}: {error}"), err=True)
            todo = _("Run it again with `grader --traceback …` and report what it prints.")
            echo(todo, err=True)
            ctx.exit(GRADERS_FAULT)


def _sentence(error: GraderError) -> str:
    if isinstance(error, CourseError):
        count = len(error.problems)
        head = ngettext("The course has a problem:", "The course has {count} problems:", count)
        head = head.format(count=count)
        return "\n".join([head, *(f"  {problem}" for problem in error.problems)])
    return str(error)


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--traceback", is_flag=True, help="Show where in the code an error was raised.")
@click.version_option(package_name="attention-course", prog_name="grader")
@click.pass_context
def cli(ctx: click.Context, traceback: bool) -> None:
    """Exercises on attention, and the grader that judges them.

    Students: `grader watch` checks your work each time you save; `grader check` checks it once,
    `grader status` shows where you are, `grader hint` helps.

    Instructors: `grader grade SUBMISSIONS --out DIR` grades a class.
    """
    del traceback
    if ctx.invoked_subcommand is None:
        words = newcomer()
        echo(words or ctx.get_help())
        ctx.exit(0 if words else USAGE_OR_COURSE_ERROR)


COMMANDS = (
    check,
    watch,
    status,
    hint,
    grade,
    validate,
    generate,
    catalogues,
    release,
    doctor,
    gradescope,
)
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    fit_streams()
    try:
        cli.main(prog_name="grader")
    except Done as done:
        done.leave()
