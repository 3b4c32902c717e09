"""What all commands share: the course to work in, the language, exit codes, errors in words."""

import os
import sys
import traceback
from contextlib import suppress
from enum import IntEnum
from pathlib import Path

import click

from grader.cli.clicks_words import full_stop
from grader.cli.streams import echo
from grader.core import language
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.language import N_, _, ngettext
from grader.course.course import SOLUTIONS, Course, find_course, load_course


class ExitCode(IntEnum):
    """How a command ends."""

    FINE = 0
    NOT_PASSED = 1
    USAGE_OR_COURSE_ERROR = 2
    GRADERS_FAULT = 3
    INTERRUPTED = 130


class Done(SystemExit):
    """The end of a command without Python's teardown, which is slow once torch is loaded."""

    def leave(self) -> None:
        """End the process at once, unless what was printed cannot be written."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            raise self from None
        os._exit(int(self.code or 0))


STUDENTS_COMMANDS = (
    *("check", "watch", "status", "hint", "predict", "show", "styles", "pack", "doctor"),
)
"""Those that work in a student's copy; the others are not listed there."""

AUTHORS_COMMANDS = (
    *("new", "preview", "generate", "validate", "mutate", "import", "schema", "catalogues"),
)
"""Those for who writes exercises; what is neither these nor the students' is for instructors."""


class Group(click.Group):
    """Turns the kit's exceptions into sentences and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands that can work here."""
        names = super().list_commands(ctx)
        return [n for n in names if n in STUDENTS_COMMANDS] if is_students_copy() else names

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by who uses them; without headings in a student's copy."""
        if is_students_copy():
            super().format_commands(ctx, formatter)
            return
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: one for name, one in found.items() if one is not None and not one.hidden}
        width = max(map(len, shown))
        rows = {
            name: (name.ljust(width), one.get_short_help_str(formatter.width - 6 - width))
            for name, one in shown.items()
        }
        others = rows.keys() - {*STUDENTS_COMMANDS, *AUTHORS_COMMANDS}
        for heading, names in (
            (_("For students"), STUDENTS_COMMANDS),
            (_("For instructors"), others),
            (_("For authors"), AUTHORS_COMMANDS),
        ):
            with formatter.section(heading):
                formatter.write_dl([row for name, row in rows.items() if name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What instructors should know, where it is not a student who asks."""
        if not is_students_copy():
            super().format_epilog(ctx, formatter)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a traceback is shown only with --traceback."""
        try:
            return super().invoke(ctx)
        except click.MissingParameter as error:
            raise click.UsageError(full_stop(error.format_message()), error.ctx) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("traceback"):
                traceback.print_exc()
            echo(_sentences(error), err=True)
            is_usage = isinstance(error, UsageError | CourseError)
            ctx.exit(ExitCode.USAGE_OR_COURSE_ERROR if is_usage else ExitCode.GRADERS_FAULT)


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


lang_option = click.option(
    "--lang",
    metavar="CODE",
    help=N_(
        "The language to speak, by its code.  [default: GRADER_LANG, the course's, or the locale]"
    ),
)


def from_here(path: Path) -> str:
    """A path as seen from where the command runs, which editors open; "" for that folder itself."""
    try:
        inner = Path(os.path.relpath(path.resolve(), Path.cwd().resolve()))
    except ValueError:  # another drive of Windows
        inner = path.resolve()
    return "" if inner == Path() else inner.as_posix()


def open_course(lang: str | None) -> Course:
    """Load the course that the working directory lies in, and use its language from here on.

    Args:
        lang: the language the command was given, None for nothing.

    Raises:
        UsageError: when there is no course, or no such language.
        CourseError: when its manifest is wrong.
    """
    with suppress(UsageError):  # a language that only the course may have
        language.use(language.resolve(lang))
    course = current_course()
    language.use(language.resolve(lang, course.language, course.languages))
    os.environ[language.VARIABLE] = language.current()  # worker processes use the same
    return course


def current_course() -> Course:
    """Load the course that the working directory lies in.

    Raises:
        UsageError: when there is none.
        CourseError: when its manifest is wrong.
    """
    return load_course(find_course(Path.cwd()))


def cores() -> int:
    """How many processes can work at a time on this machine."""
    return (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()) or 1


def is_students_copy() -> bool:
    """Whether the working directory lies in a released copy, which has no solutions."""
    with suppress(UsageError):
        return not (find_course(Path.cwd()) / SOLUTIONS).is_dir()
    return False
