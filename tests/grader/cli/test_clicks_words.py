"""Tests that click's own words are in the language of a run."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from babel.messages.catalog import Catalog

from grader.cli import main
from grader.cli.clicks_words import WORDS
from grader.cli.spoken_help import SpokenCommand
from grader.core import language
from grader.core.text import display_width
from grader.course.course import Course
from grader.release.catalogs import domain_folder, mo_bytes

PACKAGE = Path(click.__file__).parent


@pytest.fixture
def japanese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catalogues in which a few of click's words stand."""
    catalog = Catalog(locale="ja")
    catalog.add("Usage:", "使い方：")
    catalog.add("Error: {message}", "エラー：{message}")
    catalog.add("No such command {name!r}.", "{name!r} というコマンドはありません。")
    catalog.add(
        ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
        ("{possibility} ですか？",),
    )
    catalog.add("{sentence}.", "{sentence}。")
    catalog.add("Options", "オプション")
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


def test_click_still_says_what_is_translated() -> None:
    """A release of click that says something else has to be translated anew."""
    source = "".join(path.read_text("utf-8") for path in sorted(PACKAGE.glob("*.py")))
    texts = [one for word in WORDS for one in ([word] if isinstance(word, str) else word)]
    assert [text for text in texts if f'"{text}"' not in source] == []


@pytest.mark.parametrize("words", [("--lang", "ja"), ("--lang=ja",)])
def test_what_is_wrong_with_a_command_is_said_in_the_language(run, japanese, words) -> None:
    """That of the option, although the command was not read to its end."""
    before = os.environ.get("LANGUAGE")
    ran = run("check", *words, "--nothing")
    assert ran.err.startswith("使い方： grader check")
    assert "エラー：" in ran.err
    assert os.environ.get("LANGUAGE") == before


def test_the_course_or_the_variable_says_in_which(run, japanese, small_course, monkeypatch) -> None:
    """Where no option does."""
    monkeypatch.delenv(language.VARIABLE)
    manifest = small_course.root / "course.toml"
    text = manifest.read_text("utf-8").replace("[course]", '[course]\nlanguage = "ja"')
    manifest.write_text(text, "utf-8")
    assert run("statsu").err.endswith(
        "エラー：'statsu' というコマンドはありません。 'status' ですか？\n"
    )
    monkeypatch.setenv(language.VARIABLE, "en")
    assert run("statsu").err.endswith("Error: No such command 'statsu'. Did you mean 'status'?\n")


def test_a_missing_option_ends_in_the_full_stop_of_the_language(run, japanese) -> None:
    """Which click writes itself, as English has it."""
    assert run("release", "--lang", "ja", "x").err.partition("'--to'")[2][:1] == "。"
    assert run("release", "x").err.partition("'--to'")[2][:1] == "."


def test_headings_of_a_help_are_in_the_language(run, japanese) -> None:
    """With click's own words in it."""
    assert "\nオプション:\n" in run("check", "--lang", "ja", "--help").out
    assert "\nOptions:\n" in run("check", "--help").out


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
