"""Each write of a command refused, or its last: nothing is lost or half, and the next run goes on."""

import errno
import os
import re
import shutil
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from grader.classes.records import last_published, publish, records_in
from grader.cli.compare import compare as compare_command
from grader.core.errors import UsageError
from grader.course.course import COURSE_VARIABLE
from grader.extras.similarity.command import similar as similar_command
from grader.judging.results import parsed
from tests.grader.classes.conftest import SOME, STUDENTS, Killed, files_in, texts

TWO = STUDENTS[:2]
OVERRIDE, *_others = SOME
NOW, LATER = (datetime(2027, 3, day, 12, tzinfo=UTC) for day in (1, 2))
WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|CREATE|COMMIT)\b")
IN_STORE = {
    errno.ENOSPC: ("SQLITE_FULL", "database or disk is full"),
    errno.EACCES: ("SQLITE_READONLY", "attempt to write a readonly database"),
    errno.ENOENT: ("SQLITE_IOERR", "disk I/O error"),
}
"""What SQLite makes of the system's number: the name of its error, and what that says."""


class Disk:
    """A disk that refuses one of the writes into a folder, of a file after half of the bytes.

    Args:
        folder: where writes are counted: of files, and in the store each statement that writes.
        refused: which of them is refused.
        number: the system's own number for why; None for the end of the process, after which
            nothing more is written, and nothing removed.
    """

    def __init__(self, folder, refused, number=None):
        self.folder, self.refused, self.number, self.writes = folder, refused, number, 0

    @property
    def has_ended(self):
        """Whether the process has."""
        return self.number is None and self.writes >= self.refused

    def refuse(self, path, *, in_store=False):
        """Raise what the system raises, or SQLite, where this write is refused."""
        if self.folder not in (path, *path.parents):
            return
        self.writes += 1
        if self.has_ended:
            raise Killed
        if self.writes == self.refused and in_store:
            name, text = IN_STORE[self.number]
            error = sqlite3.OperationalError(text)
            error.sqlite_errorname = name
            raise error
        if self.writes == self.refused:
            raise OSError(self.number, os.strerror(self.number))

    def use(self, monkeypatch):
        """Write to this disk from now on."""
        disk, write, connect, unlink = self, Path.write_bytes, sqlite3.connect, Path.unlink

        def write_bytes(path, data):
            try:
                disk.refuse(path)
            except BaseException:
                write(path, data[: len(data) // 2])
                raise
            return write(path, data)

        def other(method):
            def call(path, *rest, **named):
                disk.refuse(path)
                return method(path, *rest, **named)

            return call

        def connected(path, **options):
            class Connection(sqlite3.Connection):
                def execute(self, statement, *rest):
                    if WRITES.match(statement):
                        disk.refuse(Path(path), in_store=True)
                    return super().execute(statement, *rest)

                def executemany(self, statement, rows):
                    disk.refuse(Path(path), in_store=True)
                    return super().executemany(statement, rows)

            return connect(path, factory=Connection, **options)

        def removed(path, **options):
            if not disk.has_ended:
                unlink(path, **options)

        monkeypatch.setattr(Path, "write_bytes", write_bytes)
        monkeypatch.setattr(Path, "replace", other(Path.replace))
        monkeypatch.setattr(Path, "mkdir", other(Path.mkdir))
        monkeypatch.setattr(Path, "unlink", removed)
        monkeypatch.setattr(sqlite3, "connect", connected)


@pytest.fixture
def at_each_write(monkeypatch):
    """Does a command again and again from the start, refused the first write, the second, and so on."""

    def tried(start, command, number=None):
        for refused in count(1):
            folder, said = start(refused), ""
            with monkeypatch.context() as patched:
                disk = Disk(folder, refused, number)
                disk.use(patched)
                with suppress(Killed):
                    try:
                        command(folder)
                    except UsageError as error:
                        said = str(error)
            if disk.writes < refused:
                assert (said, refused > 2) == ("", True)
                return
            yield folder, said
            shutil.rmtree(folder)

    return tried


@pytest.fixture
def run(make):
    """A class of two that was graded."""
    made = make("out")
    made.run(names=TWO)
    return made


@pytest.mark.parametrize(
    "number",
    [
        errno.ENOSPC,
        *(pytest.param(n, marks=pytest.mark.proof) for n in (errno.EACCES, errno.ENOENT)),
    ],
)
def test_any_write_may_be_refused(make, run, at_each_write, number):
    """It is told with its path, no half of a file stays, and the next run ends as if nothing was."""
    reasons = (os.strerror(number), IN_STORE[number][1].removeprefix("database or "))
    again, refused = make("again"), 0
    for out, said in at_each_write(lambda _: again.out, lambda _: again.run(names=TWO), number):
        assert f"{out}" in said
        assert any(reason in said for reason in reasons), said
        assert not list(out.rglob("*.part"))
        again.run(names=TWO)
        assert (again.files(), again.store()) == (run.files(), run.store())
        refused += 1
    assert refused > 25


def test_what_is_published_is_whole(run, at_each_write, tmp_path):
    """What was published before stays as it is, and no half of what is published counts."""
    first = publish(run.out, NOW).name
    given = texts(run.out)
    run.harder()
    run.run(names=TWO)
    now = texts(run.out)

    def start(number):
        return shutil.copytree(run.out, tmp_path / f"out-{number}")

    for out, _said in at_each_write(start, lambda out: publish(out, LATER)):
        assert texts(out / "published" / first) == given
        last = last_published(out)
        assert texts(last) == (given if last.name == first else now)
        assert texts(publish(out, LATER)) == now


@pytest.mark.slow
@pytest.mark.parametrize(
    "decided", [True, pytest.param(False, marks=pytest.mark.proof)], ids=["decided", "graded"]
)
def test_a_killed_run_goes_on(run, at_each_write, tmp_path, decided):
    """Each record is whole, whoever has the decision already; the same command ends as usual."""
    before = shutil.copytree(run.out, tmp_path / "before") if decided else tmp_path / "nothing"
    before.mkdir(exist_ok=True)
    options = {"decisions": OVERRIDE} if decided else {}
    run.run(names=TWO, **options)
    whole, store = run.files(), run.store()

    def start(number):
        run.graded.clear()
        run.out = shutil.copytree(before, tmp_path / f"out-{number}")
        return run.out

    for out, _said in at_each_write(start, lambda _: run.run(names=TWO, **options)):
        found = {id_: parsed(path.read_bytes()) for id_, path in records_in(out).items()}
        assert not decided or [*found] == TWO
        run.run(names=TWO, **options)
        assert (run.files(), run.store()) == (whole, store)
        # Whoever was graded when the process ended may have been graded for nothing, nobody else.
        assert run.graded.total() <= (0 if decided else 3)


def compare(run, folder):
    """Compare the run with itself, on a page."""
    left_out = dict.fromkeys(("submissions", "roster", "anonymous", "items"))
    page = folder / "page.html"
    compare_command.callback(run.out, run.out, format_="json", page=page, **left_out)


def similar(run, folder):
    """Look for pairs, on a page and for other programs."""
    given = {"submissions": run.folder, "archives": (), "ignore": None, "first": 40}
    pages = {"html": folder / "page.html", "export": folder / "export"}
    similar_command.callback(run.out, **given, **pages, format_="text")


@pytest.mark.slow
@pytest.mark.parametrize("command", [compare, similar])
def test_a_page_is_the_old_one_or_the_new_one(
    run, at_each_write, monkeypatch, tmp_path, capsys, command
):
    """The run is as it was, and the same command writes what it would have written."""
    monkeypatch.setenv(COURSE_VARIABLE, str(run.course))
    graded = run.files()
    for other in {path.name for path in run.folder.iterdir()} - {*TWO}:
        shutil.rmtree(run.folder / other)

    def start(number):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "page.html").write_text("old", "utf-8")
        return tmp_path / f"{number}"

    command(run, start("whole"))
    new = files_in(tmp_path / "whole")
    for folder, _said in at_each_write(start, lambda folder: command(run, folder)):
        assert (folder / "page.html").read_text("utf-8") in ("old", new["page.html"])
        assert run.files() == graded
        command(run, folder)
        assert files_in(folder) == new
    capsys.readouterr()
