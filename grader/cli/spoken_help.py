"""Commands whose help is in the language of a run: their docstrings and what their options say.

The texts are looked up as click looks up its own (`grader.cli.clicks_words`).
"""

import gettext
import inspect
from collections.abc import Iterable

import click

from grader.cli.edge import Group
from grader.core.text import display_width, filled, paragraphs


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
        rows = [(name, _said(text)) for name, text in rows]
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


def _said(text: str) -> str:
    """What an option says; click may have added more in brackets, which it translates."""
    said, space, more = text.partition("  [")
    if not said:  # of an empty text, gettext says what file it has read
        return text
    whole = gettext.gettext(text)
    return whole if whole != text else f"{gettext.gettext(said)}{space}{more}"


class Context(click.Context):
    """Where help is written by that formatter."""

    formatter_class = Formatter


class SpokenCommand(click.Command):
    """A command whose help is translated when it is shown."""

    context_class = Context

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the docstring, paragraph by paragraph."""
        del ctx
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join(map(gettext.gettext, self._paragraphs)))

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence."""
        said = gettext.gettext(self._paragraphs[0])
        return said if said != self._paragraphs[0] else super().get_short_help_str(limit)

    @property
    def _paragraphs(self) -> list[str]:
        return paragraphs(inspect.cleandoc(self.help or ""))


class SpokenGroup(SpokenCommand, Group):
    """The same for the group of all commands."""
