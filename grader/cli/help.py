"""Commands whose help is in the language of a run: their docstrings and what their options say."""

import inspect
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import click

from grader.core import language
from grader.core.errors import GraderError
from grader.core.language import _
from grader.core.text import display_width, filled, paragraphs
from grader.course.course import find_course, load_course


class Formatter(click.HelpFormatter):
    """Breaks lines of wide characters where Chinese and Japanese do."""

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        if display_width(text) == len(text):
            super().write_text(text)
            return
        before = " " * self.current_indent
        parts = ["\n".join(filled(p, self.width, before, before)) for p in text.split("\n\n")]
        self.write("\n\n".join(parts) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names, and beside each what it means in the language."""
        rows = [(name, _translated(text)) for name, text in rows]
        if all(display_width(text) == len(text) for _name, text in rows):
            super().write_dl(rows, col_max, col_spacing)
            return
        column = min(max(len(name) for name, _text in rows), col_max) + col_spacing
        before, hanging = " " * self.current_indent, " " * (self.current_indent + column)
        for name, text in rows:
            first = f"{before}{name}".ljust(len(hanging))
            if len(name) + col_spacing > column:
                self.write(first.rstrip() + "\n")
                first = hanging
            self.write("\n".join(filled(text, self.width, first, hanging)) + "\n")


def _translated(text: str) -> str:
    """The help of an option; click may have added something in brackets."""
    words, space, more = text.partition("  [")
    if not words:  # the translation of an empty text is a catalogue's head
        return text
    whole = _(text)
    return whole if whole != text else f"{_(words)}{space}{more}"


class Context(click.Context):
    """Where help is written by that formatter."""

    formatter_class = Formatter


class SpokenCommand(click.Command):
    """A command whose help is translated when it is shown."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command, which say in which language its help is."""
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the docstring, paragraph by paragraph."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join(map(_, self._paragraphs)))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help in the language that `--lang` asks for, or that a run would speak."""
        language.use(_language(ctx.obj or ()))
        super().format_help(ctx, formatter)

    @property
    def _paragraphs(self) -> list[str]:
        return paragraphs(inspect.cleandoc(self.help or ""))


def _language(words: Sequence[str]) -> str:
    """The language that a command asks for, or that a run speaks; English where there is none."""
    pairs = pairwise(part for word in words for part in word.split("=", 1))
    asked = next((code for option, code in pairs if option == "--lang"), None)
    with suppress(GraderError):
        with suppress(GraderError):
            course = load_course(find_course(Path.cwd()))
            return language.resolve(asked, course.language, course.languages)
        return language.resolve(asked)
    return language.DEFAULT_LANGUAGE
