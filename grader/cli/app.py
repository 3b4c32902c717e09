"""The command `grader`: the list of its commands, each loaded when it is called, and their errors."""

import keyword
import traceback
from importlib import import_module

import click

from grader.cli.help import SpokenCommand
from grader.cli.shared import Done, ExitCode, echo, fit_streams, is_students_copy
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.kit import KIT_NAME
from grader.core.language import N_, _, ngettext

COMMANDS = {
    N_("For students"): {
        "check": N_("Run the visible checks on your work."),
        "watch": N_("Check your work each time you save a file in assignments/."),
        "status": N_("Show where you are in the course: points, what is done, what comes next."),
        "hint": N_("Show the next hint for EXERCISE."),
        "predict": N_("Predict what your code will do, and have it answer once it is written."),
        "show": N_("Show what your own code makes of the course's text."),
        "styles": N_("Show other right ways to write EXERCISE, once it is solved."),
        "pack": N_("Write the one file that you hand in, and print a receipt."),
        "doctor": N_("Show whether all that is needed works here."),
    },
    N_("For instructors"): {
        "grade": "Grade SUBMISSIONS, a folder with one folder per student, by all checks.",
        "explain": "Show everything about one score: STUDENT's for EXERCISE.",
        "compare": "Show whose score differs between OLD and NEW, by how much, and why.",
        "publish": "Keep a copy of the results in OUT, the --out folder of a run, as students receive them.",
        "similar": "Show suspiciously similar submissions in the class of RUN.",
        "learn": "Turn STUDENT's wrong answer for EXERCISE into a known mistake.",
        "release": "Write a release for students or a platform into DEST.",
    },
    N_("For authors"): {
        "new": "Create a course, an assignment or an exercise.",
        "preview": "Show an assignment or an exercise as students will see it.",
        "generate": "Regenerate stubs and notebooks from the solutions.",
        "validate": "Prove that the course keeps its promises.",
        "mutate": "Run the checks against mutants, small mechanical edits of the solutions.",
        "import": "Turn a notebook written for otter-grader or nbgrader into an assignment.",
        "schema": "Print the JSON schema of a file that other programs may read.",
        "catalogues": "Update the translation catalogues and compile them.",
    },
}
"""By who uses them, all commands with the first sentence of their help. Students' commands work in
a student's copy; the others are not listed there. Each is the function of its name in the module
of its name."""

HIDDEN = ("gradescope",)


class Group(SpokenCommand, click.Group):
    """Loads a command when it is called, and turns the kit's exceptions into sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands that can work here."""
        shown = list(COMMANDS.values())[:1] if is_students_copy() else COMMANDS.values()
        return sorted(name for commands in shown for name in commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, from its own module."""
        if cmd_name not in self.commands:
            return None
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command: click.Command = getattr(import_module(f"grader.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by who uses them; without the others in a student's copy."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        is_copy = is_students_copy()
        for heading, commands in COMMANDS.items():
            rows = [
                (name.ljust(width), _short(commands[name], formatter.width - 6 - width))
                for name in names
                if name in commands
            ]
            if rows:
                with formatter.section("Commands" if is_copy else _(heading)):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What instructors should know, where it is not a student who asks."""
        if not is_students_copy():
            super().format_epilog(ctx, formatter)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command and end with its exit code; a traceback is shown only with --traceback."""
        try:
            code = super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("traceback"):
                traceback.print_exc()
            echo(_sentences(error), err=True)
            is_usage = isinstance(error, UsageError | CourseError)
            ctx.exit(ExitCode.USAGE_OR_COURSE_ERROR if is_usage else ExitCode.GRADERS_FAULT)
        if not isinstance(code, ExitCode):
            return code
        raise Done(code) if ctx.invoked_subcommand in COMMANDS["For students"] else SystemExit(code)


def _short(sentence: str, most: int) -> str:
    """The sentence of a command in a list: translated, or what there is room for."""
    translation = _(sentence)
    return (
        translation
        if translation != sentence
        else click.Command(None, help=sentence).get_short_help_str(most)
    )


def _sentences(error: Exception) -> str:
    if isinstance(error, CourseError):
        count = len(error.problems)
        head = ngettext("The course has a problem:", "The course has {count} problems:", count)
        head = head.format(count=count)
        return "\n".join([head, *(f"  {problem}" for problem in error.problems)])
    if isinstance(error, GraderError):
        return str(error)
    sentence = _("The grader itself failed: {reason}")
    sentence = sentence.format(reason=f"{type(error).__name__}: {error}")
    return f"{sentence}\n{_('Run it again with `grader --traceback …` and report what it prints.')}"


@click.group(
    cls=Group,
    epilog="Instructors: `grader grade SUBMISSIONS --out DIR` grades a class.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--traceback", is_flag=True, help="Show where in the code an error was raised.")
@click.version_option(package_name=KIT_NAME, prog_name="grader")
@click.pass_context
def cli(ctx: click.Context, traceback: bool) -> None:
    """Exercises with checks that name your mistake.

    Students: `grader watch` checks your work each time you save; `grader check` checks it once,
    `grader status` shows where you are, `grader hint` helps, `grader pack` writes what you hand in.
    """
    del traceback  # the group's error handling reads it
    if ctx.invoked_subcommand is None:
        from grader.cli.status import newcomer

        words = newcomer()
        echo(words or ctx.get_help())
        ctx.exit(ExitCode.FINE if words else ExitCode.USAGE_OR_COURSE_ERROR)


# What a name stands for until it is loaded; click looks for similar names among them.
cli.commands.update(
    (name, click.Command(None)) for name in (*HIDDEN, *(n for c in COMMANDS.values() for n in c))
)


def main() -> None:
    """Run the command line."""
    fit_streams()
    try:
        cli.main(prog_name="grader")
    except Done as done:
        done.leave()
