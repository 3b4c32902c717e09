"""Tests of the list of commands, and of helps in the language of a run."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from babel.messages.catalog import Catalog

from grader.cli import cli, main
from grader.cli.app import COMMANDS, _sentence
from grader.cli.help import SpokenCommand
from grader.core import language
from grader.core.entry_points import entries
from grader.core.text import display_width
from grader.course.course import Course
from grader.release.catalogs import domain_folder, mo_bytes


@pytest.fixture
def japanese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catalogues in which a few words of helps stand."""
    catalog = Catalog(locale="ja")
    catalog.add("Run the visible checks on your work.", "公開のチェックを実行します。")
    catalog.add("Run in this process: print and breakpoint() work.", "このプロセスで実行。" * 9)
    path = domain_folder(tmp_path / "locale", "ja") / "grader.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(mo_bytes(catalog))
    monkeypatch.setattr(language, "OWN_TRANSLATIONS", tmp_path / "locale")


@pytest.fixture
def run(
    small_course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Runs a command of the course's folder, as the program does."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(small_course.root)

    def called(*words: str) -> Any:
        monkeypatch.setattr(sys, "argv", ["grader", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr()

    return called


@pytest.mark.parametrize("name", entries(COMMANDS), ids=str)
def test_the_list_has_the_first_sentence_of_each_help(name: str) -> None:
    """It is read from the source: the list loads no command."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    first = " ".join((command.help or "").split("\n\n")[0].split())
    assert first == _sentence(entries(COMMANDS)[name])


def test_helps_of_commands_are_in_the_language(run, japanese, monkeypatch) -> None:
    """Their docstrings and options, in lines that fit; what is not translated stays."""
    text = run("check", "--lang", "ja", "--help").out
    assert "\n\n  公開のチェックを実行します。\n\n  TARGET is an assignment" in text
    assert "--debug                         このプロセスで実行。このプロセスで実行。この\n" in text
    assert max(map(display_width, text.splitlines())) <= 80
    assert "Content-Type" not in text
    monkeypatch.setenv(language.VARIABLE, "ja")
    assert "  check       公開のチェックを実行します。\n" in run("--help").out


def test_help_in_english_is_clicks_own(run, monkeypatch) -> None:
    """Line for line."""
    ours = run("check", "--help").out
    monkeypatch.setattr(SpokenCommand, "context_class", click.Context)
    assert run("check", "--help").out == ours


def test_alone_outside_of_a_course_it_says_where_to_run_it(run, tmp_path, monkeypatch) -> None:
    """And how to see all commands: a list of instructors' commands would not help a student."""
    monkeypatch.chdir(tmp_path)
    assert " ".join(run().err.split()) == (
        f"No course.toml in {tmp_path} or any folder above it. Run the command inside the course's "
        "folder. `grader --help` lists all commands."
    )
