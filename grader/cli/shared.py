"""What commands share: exit codes, printing, the course to work in, options of several commands."""

import codecs
import json
import os
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

import click
from msgspec import structs

from grader.core import language
from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.language import N_
from grader.course.course import SOLUTIONS, Course, find_course, load_course

F = TypeVar("F", bound=Callable[..., Any])


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


REPLACED_ERRORS = "grader.signs"
PLAIN = dict(zip("✓✗·–—“”‘’×−█░", "+x.--\"\"''x-#.", strict=True)) | {
    "→": "->",
    "…": "...",
    "√": "sqrt ",
    "≥": ">=",
    "≤": "<=",
}
"""Signs of our own in ASCII."""


def plain(text: str) -> str:
    """The text in ASCII: signs by others, letters without accents, `?` for the rest."""
    return "".join(_plain(character) for character in text)


def _plain(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return PLAIN.get(character, parts or "?")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def fit_streams() -> None:
    """Have standard output and error show what their encoding lacks by other signs."""
    codecs.register_error(REPLACED_ERRORS, _replace)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=REPLACED_ERRORS)


def echo(text: str, *, err: bool = False) -> None:
    """Write a text, in the stream's own encoding (click's `echo` writes UTF-8 where that is ASCII)."""
    click.echo(text, file=sys.stderr if err else sys.stdout)


def echo_json(record: object) -> None:
    """Write a record as other programs read it."""
    echo(json.dumps(record, default=structs.asdict, indent=2, ensure_ascii=False))


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
    """The course that the working directory lies in, loaded once for each command.

    Raises:
        UsageError: when there is none.
        CourseError: when its manifest is wrong.
    """
    root, context = find_course(Path.cwd()), click.get_current_context(silent=True)
    loaded = {} if context is None else context.meta.setdefault(__name__, {})
    if root not in loaded:
        loaded[root] = load_course(root)
    course: Course = loaded[root]
    return course


def cores() -> int:
    """How many processes can work at a time on this machine."""
    return (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()) or 1


def is_students_copy() -> bool:
    """Whether the working directory lies in a released copy, which has no solutions."""
    with suppress(UsageError):
        return not (find_course(Path.cwd()) / SOLUTIONS).is_dir()
    return False


def write_stale(changed: Iterable[OutputFile], course: Course, *, only_check: bool) -> None:
    """Write files that are stale, or only list them."""
    for file in changed:
        if not only_check:
            file.write(course.root)
        click.echo(f"{'stale' if only_check else 'written'}: {file.path}")


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Let what ends a program politely (`timeout`, a batch system) end it as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# Options of several commands.


def _opened(ctx: click.Context, parameter: click.Parameter, lang: str | None) -> Course:
    del ctx, parameter
    return open_course(lang)


ANYTHING = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


def _lang_option(*names: str, **settings: Any) -> Callable[[F], F]:
    words = N_(
        "The language to speak, by its code.  [default: GRADER_LANG, the course's, or the locale]"
    )
    return click.option(*names, metavar="CODE", help=words, **settings)


lang_option = _lang_option("--lang")
course_option = _lang_option("--lang", "course", callback=_opened)
"""Gives a command the course that it works in, in the language that is asked for."""

format_option = click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text"
)
targets_argument = click.argument("targets", nargs=-1, metavar="[TARGET]...")
class_option = click.option("--submissions", type=ANYTHING, help="What the class handed in.")
only_check_option = click.option(
    "--check", "only_check", is_flag=True, help="Write nothing; exit 1 if any is stale."
)
