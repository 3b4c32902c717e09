"""Helpers of the command line's tests: a small complete course, and commands run inside it."""

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

from grader.classes import workers
from grader.cli import cli
from grader.judging import fixtures, seal_probe
from grader.release import students as student_releases
from grader.sessions import launchers

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"
"""A known mistake in the first assignment: 0.8 of 2 points."""


@dataclass(slots=True)
class Kept:
    """A launcher that all tests share: to close it does nothing."""

    inner: Any
    packages: tuple[str, ...] = ()

    @property
    def isolation(self) -> tuple[str, ...]:
        """The shared one's."""
        return self.inner.isolation

    def launch(self, *arguments: Any) -> Any:
        """Make a child process."""
        return self.inner.launch(*arguments)

    def close(self) -> None:
        """Leave it to the end of all tests."""


@pytest.fixture
def folder(
    course_copy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Path:
    """A course, which is the current folder, and a student's memory of hints of its own."""
    is_linux = sys.platform == "linux"
    kept = Kept(request.getfixturevalue("warm_parent") if is_linux else launchers.SpawnLauncher())
    for name in ("default_launcher", "early_launcher"):
        monkeypatch.setattr(launchers, name, lambda *_: kept)
    for module in (fixtures, seal_probe, workers):
        monkeypatch.setattr(module, "default_launcher", lambda *_: kept)
    if is_linux:
        sealed = Kept(request.getfixturevalue("sealed_parent"))
        monkeypatch.setattr(seal_probe, "sealed_launcher", lambda *_, **__: sealed)
        monkeypatch.setattr(seal_probe, "shared_launcher", lambda *_: sealed)
    # What a release records is recorded here: two processes more would import torch for it.
    monkeypatch.setattr(
        student_releases, "spread", lambda work, pieces, _jobs, **_: starmap(work, pieces)
    )
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("GRADER_COURSE", raising=False)
    monkeypatch.chdir(course_copy)
    return course_copy


@pytest.fixture
def edit(folder: Path) -> Callable[[str, str, str], None]:
    """Replaces a text that stands in a file of the course."""

    def replace(path: str, old: str, new: str) -> None:
        text = (folder / path).read_text("utf-8")
        assert old in text
        (folder / path).write_text(text.replace(old, new), "utf-8")

    return replace


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., Path]:
    """Writes a student's files, and answers their folder.

    `right` stands for the solution, `unscaled` for a known mistake; a list is a notebook's cells.
    """

    def write(student: str = "mine", **files: str | list[str]) -> Path:
        place = tmp_path / "class" / student
        place.mkdir(parents=True, exist_ok=True)
        for module, text in files.items():
            if isinstance(text, list):
                cells = [{"cell_type": "code", "source": cell} for cell in text]
                (place / f"{module}.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
            else:
                text = answer(tmp_path / "course", module, text)
                (place / f"{module}.py").write_text(text, "utf-8")
        return place

    return write


def answer(course: Path, module: str, text: str) -> str:
    """A text itself, or what `right` and `unscaled` stand for."""
    if text == "right":
        (solution,) = (course / "solutions").glob(f"*/{module}.py")
        return solution.read_text("utf-8")
    return NOT_SCALED if text == "unscaled" else text


@pytest.fixture
def own(folder: Path) -> Callable[..., None]:
    """Writes a student's files in the course's own folder, with the same words."""

    def write(**files: str) -> None:
        for module, text in files.items():
            (path,) = (folder / "assignments").glob(f"*/{module}.py")
            path.write_text(answer(folder, module, text), "utf-8")

    return write


@pytest.fixture
def right(folder: Path) -> str:
    """The solution of the first assignment."""
    return (folder / "solutions/01_scores/scores.py").read_text("utf-8")


@pytest.fixture
def students(work: Callable[..., Path]) -> Path:
    """A class of three: all right, one mistake, an empty folder."""
    work("ada", scores="right", mixture="right")
    work("bo", scores="unscaled")
    return work("cem").parent


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where results go."""
    return tmp_path / "out"


@pytest.fixture
def grade(grader: Callable[..., "Ran"], tmp_path: Path, out: Path) -> Callable[..., "Ran"]:
    """Grades the class that was handed in, without a seal and in this process."""

    def run(*options: object, submissions: Path = tmp_path / "class", out: Path = out) -> Ran:
        here = ("--isolation", "process", "--jobs", 1)
        return grader("grade", submissions, "--out", out, *here, *options)

    return run


def scores(out: Path) -> dict[str, str]:
    """Everybody's score, as a run's table has it."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row["score"] for row in csv.DictReader(file)}


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Its output without trailing space, and without empty lines at its end."""
        return [line.rstrip() for line in self.out.rstrip().splitlines()]


@pytest.fixture(scope="session")
def releases() -> dict[str, tuple[Path, Ran]]:
    """What was released already, by audience."""
    return {}


@pytest.fixture
def release(
    grader: Callable[..., Ran],
    releases: dict[str, tuple[Path, Ran]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, Ran]]:
    """Releases the course to an audience, once for all tests, which leave it as it is."""

    def made(audience: str) -> tuple[Path, Ran]:
        if audience not in releases:
            place = tmp_path_factory.mktemp("releases") / audience
            ran = grader("release", place, "--to", audience)
            assert ran.code == 0, ran.err
            releases[audience] = place, ran
        return releases[audience]

    return made


@pytest.fixture
def grader(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command of the course's folder."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments], prog_name="grader")
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return run
