"""The command `grader`: the list of its commands, each loaded when it is called, and their errors."""

import re
import traceback
from contextlib import suppress
from importlib.abc import SourceLoader
from importlib.metadata import EntryPoint
from importlib.util import find_spec

import click

from grader.cli.help import SpokenCommand
from grader.cli.settings import KEYS, settings
from grader.cli.shared import Done, ExitCode, echo, fit_streams, is_students_copy
from grader.core.entry_points import entries, lacking, load
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.kit import KIT_NAME
from grader.core.language import N_, _, ngettext

COMMANDS = "grader.commands"
STUDENTS = f"{COMMANDS}.students"
LISTED = (STUDENTS, f"{COMMANDS}.instructors", f"{COMMANDS}.authors", COMMANDS)
"""The groups of entry points whose commands are listed; in a student's copy those for students and of other packages."""
WORK, GRADE = N_("Work on the exercises"), N_("Give a course to a class, and grade it")
WRITE = N_("Write exercises, and try them")
COMMANDS_BY_TASK = {
    WORK: "check watch status hint show predict styles pack",
    GRADE: "release grade desk publish send doctor docs",
    N_("Look into what a class did"): "explain compare similar learn",
    WRITE: "new import generate preview validate mutate catalogues",
    N_("For other programs"): "schema",
}
"""The kit's commands by what one wants to do, in order."""
OTHERS = N_("From other packages")
SECTION_OF_GROUP = dict(zip(LISTED, (WORK, GRADE, WRITE), strict=False))
"""The section of a command that none of these names, by its group."""


class Group(SpokenCommand, click.Group):
    """Loads a command when it is called, and turns the kit's exceptions into sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands that can work here."""
        shown = (STUDENTS, COMMANDS) if is_students_copy() else LISTED
        return [name for name, entry in entries(COMMANDS).items() if entry.group in shown]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, from its own module."""
        entry = entries(COMMANDS).get(cmd_name)
        return load(entry) if entry is not None else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by what one wants to do; those that work in a student's copy, in one."""
        names = self.list_commands(ctx)
        width, found = max(map(len, names)), entries(COMMANDS)
        sections = {_(wish): commands.split() for wish, commands in COMMANDS_BY_TASK.items()}
        known = {name for commands in sections.values() for name in commands}
        for name in names:
            if name not in known:
                sections.setdefault(_(SECTION_OF_GROUP.get(found[name].group, OTHERS)), []).append(
                    name
                )
        if is_students_copy():
            sections = {"Commands": names}
        for heading, commands in sections.items():
            rows = [
                (name.ljust(width), _short(_sentence(found[name]), formatter.width - 6 - width))
                for name in commands
                if name in names
            ]
            if rows:
                with formatter.section(heading):
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
        except KeyboardInterrupt:
            echo(_("Stopped. Run it again for the whole result."), err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except Exception as error:
            if isinstance(error, BrokenPipeError):
                echo("")  # raises again where nobody reads our output: click then ends quietly
            if ctx.params.get("traceback"):
                traceback.print_exc()
            entry = entries(COMMANDS).get(ctx.invoked_subcommand or "")
            missing = lacking(entry, error) if entry is not None else ""
            echo(missing or _sentences(error), err=True)
            is_usage = bool(missing) or isinstance(error, UsageError | CourseError)
            ctx.exit(ExitCode.USAGE_OR_COURSE_ERROR if is_usage else ExitCode.GRADERS_FAULT)
        if not isinstance(code, ExitCode):
            return code
        is_quick = ctx.invoked_subcommand in entries(STUDENTS)
        raise Done(code) if is_quick else SystemExit(code)


def _sentence(entry: EntryPoint) -> str:
    """The first line of a command's docstring, from its source: a list loads no command."""
    with suppress(ImportError):
        spec = find_spec(entry.module)
        if spec is not None and isinstance(spec.loader, SourceLoader):
            source = spec.loader.get_source(entry.module) or ""
            match = re.search(rf'(?ms)^def {entry.attr}\(.*?"""(.+?)(?:""")?$', source)
            return match[1] if match else ""
    return ""


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
    again = _("Run it again with `grader --traceback …` and report what it prints.")
    return f"{sentence}\n{again}"


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
    if ctx.invoked_subcommand in KEYS:
        ctx.default_map = settings()
    if ctx.invoked_subcommand is None:
        from grader.cli.status import newcomer

        echo(newcomer())


# Until it is loaded: click looks for similar names among them.
cli.commands.update(dict.fromkeys(entries(COMMANDS), click.Command(None)))


def main() -> None:
    """Run the command line."""
    fit_streams()
    try:
        cli.main(prog_name="grader")
    except Done as done:
        done.leave()
