"""The page on a term: its commands do what it shows, in their order, in a class made for it."""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from grader.cli import cli
from tests.support import term_class

PAGES = ("README.md", "docs/term.md", "docs/instructors.md")
BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```|^## (.*?)$")
HERE = ("--isolation", "process", "--jobs", "1")
STEPS = {
    "The first assignment": (term_class.begin,),
    "Some hand in again": (term_class.again,),
    "A check turns out wrong": (term_class.mended,),
    "The last grades": (term_class.last,),
}
"""What happens to the class where these parts of the page begin."""


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block, with the lines that are shown of what it prints."""
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


@pytest.mark.parametrize("page", PAGES)
def test_every_command_has_these_options(root: Path, page: str) -> None:
    """They are read as the command line reads them, and not run."""
    text = (root / page).read_text("utf-8")
    blocks = "".join(found[2] for found in BLOCK.finditer(text) if found[2])
    lines = re.findall(r"(?m)^(?:\$ )?grader (\S.*?)(?:  +#.*)?$", blocks)
    assert lines
    for line in lines:
        name, *arguments = shlex.split(line)
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        command.make_context(name, arguments, resilient_parsing=False)


NO_DECISIONS = "../mended has no decisions.toml: decisions.toml of this course counts.\n"


@pytest.mark.proof
@pytest.mark.slow
def test_a_term_goes_as_the_page_shows(grader, folder, root, monkeypatch) -> None:
    """Each line that is shown is printed, and in this order; `…` stands for anything."""
    moments = iter(datetime(2026, *day, 10, tzinfo=UTC) for day in ((2, 8), (2, 15), (6, 30)))

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            del tz
            return next(moments)

    monkeypatch.setattr("grader.cli.publish.datetime", Clock)
    monkeypatch.setenv("COLUMNS", "100")
    for kind, text, heading in BLOCK.findall((root / "docs/term.md").read_text("utf-8")):
        for step in STEPS.get(heading, ()):
            step(folder)
        if kind == "toml":
            is_setting = text.startswith("[grade]") or "[" not in text  # one more line of it
            name = "course.toml" if is_setting else "decisions.toml"
            with (folder / name).open("a", encoding="utf-8") as file:
                file.write(text if is_setting else f"\n{text}")
        for command, shown in commands(text) if kind == "console" else ():
            _, *arguments = shlex.split(command)
            ran = grader(*arguments, *(HERE if arguments[0] == "grade" else ()))
            told = NO_DECISIONS if "../mended" in arguments else ""
            assert (ran.code, ran.err) == (0, told), command
            lines = "\n".join(line.rstrip() for line in ran.out.split("\n"))
            expected = ".*".join(
                re.escape(line).replace("…", ".*") for line in shown if line != "…"
            )
            assert re.search(expected, lines, re.DOTALL), f"{command}\n{lines}"
