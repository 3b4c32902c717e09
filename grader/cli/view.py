"""How the commands show text on a terminal: its lines, its colours, and what is left out."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from grader.cli.shared import from_here
from grader.core.records import Outcome
from grader.core.text import display_width, filled
from grader.course.course import Course
from grader.judging.outcomes import SIGNS, out_of

STYLES = {"✓": "green", "~": "cyan", "·": "dim", "!": "bold magenta", "✗": "red"}
"""The colour of each sign."""

SCORE = 9
"""Columns of a score, where what can be earned has one digit."""


def sign_of(outcome: Outcome) -> tuple[str, str]:
    """The sign of an outcome, and its colour."""
    return SIGNS[outcome], STYLES[SIGNS[outcome]]


def table(*columns: str, right: Sequence[str] = (), **settings: Any) -> Table:
    """A table whose long cells are broken into lines.

    Args:
        *columns: its columns.
        right: those of them that are numbers.
        **settings: rich's.
    """
    made = Table(header_style="bold", **settings)
    for name in columns:
        made.add_column(name, overflow="fold", justify="right" if name in right else "left")
    return made


def console(*, quiet: bool = False) -> Console:
    """A terminal that does not break lines of tensors where it is not one; `:100:` stays as it is."""
    made = Console(highlight=False, emoji=False, quiet=quiet)
    if made.is_terminal:
        return made
    return Console(highlight=False, emoji=False, quiet=quiet, width=max(made.width, 100))


def plain_console() -> Console:
    """Plain text to standard output, also inside a notebook's kernel."""
    return Console(
        highlight=False, emoji=False, force_jupyter=False, force_terminal=False, width=100
    )


@dataclass(frozen=True, slots=True)
class Lines:
    """Text that is broken into lines as its script is, without space at their ends.

    Args:
        text: the text.
        indent: the columns that stay free before each line.
    """

    text: Text
    indent: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The text line by line."""
        width = options.max_width - self.indent
        is_wide = display_width(self.text.plain) > len(self.text.plain)
        for line in self._wide(width) if is_wide else self.text.wrap(console, width):
            line.rstrip()
            yield Text(" " * self.indent).append_text(line)

    def height(self, out: Console) -> int:
        """How many lines it takes on a terminal."""
        return len(list(self.__rich_console__(out, out.options)))

    def _wide(self, width: int) -> Iterator[Text]:
        """The lines of Chinese and Japanese."""
        start, plain = 0, self.text.plain
        for line in filled(plain, width):
            start = plain.index(line, start)
            yield self.text[start : start + len(line)]
            start += len(line)


def score_column(score: object, max_score: float) -> str:
    """A score beside what can be earned, or a word for nothing, as a column of a list."""
    text = out_of(f"{score!s:>5}", max_score)
    return " " * (SCORE - display_width(text)) + text


@dataclass(frozen=True, slots=True)
class View:
    """How results are shown.

    Args:
        folder: where the submission lies, seen from where the command runs; "" for here.
        pictures: whether to show them; where not, they are shown in another way.
        hint: what asks for a hint on an exercise, by its id.
        more: what shows all of an exercise's checks, by its id; without it there is room for all.
        everything: whether to show all that every check says.
    """

    folder: str = ""
    pictures: bool = True
    hint: Callable[[str], str] = "`grader hint {}`".format
    more: Callable[[str], str] | None = None
    everything: bool = False

    def path(self, file: str, line: int | None = None) -> str:
        """A file of the submission, or a line of it, as an editor opens it."""
        path = f"{self.folder}/{file}" if self.folder and file else file
        return path if line is None else f"{path}:{line}"


def view_of(course: Course, submission: Path | None = None, *, everything: bool = False) -> View:
    """How results of a student's work are shown.

    Args:
        course: the course.
        submission: what is checked where that is not the course's own work.
        everything: whether to show all that every check says.
    """
    path = submission or course.work_folder
    of = "" if submission is None else f" --submission {shlex.quote(str(submission))}"

    def name(id_: str) -> str:
        return course.name_of(course.exercises[id_])

    return View(
        from_here(path.parent if path.is_file() else path),
        hint=lambda id_: f"`grader hint {name(id_)}`",
        more=lambda id_: f"`grader check {name(id_)}{of} --verbose`",
        everything=everything,
    )
