"""Every write of a class run refused in turn: nothing is lost, nothing is half, the next run goes on."""

import errno
import os
import re
import sqlite3
from itertools import count
from pathlib import Path

import pytest

from grader.core.errors import UsageError

TWO = ["student-00", "student-01"]
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
        number: the system's own number for why.
    """

    def __init__(self, folder, refused, number):
        self.folder, self.refused, self.number, self.writes = folder, refused, number, 0

    def refuses(self, path):
        """Whether this write is refused."""
        if self.folder not in (path, *path.parents):
            return False
        self.writes += 1
        return self.writes == self.refused

    def error(self):
        """What the system raises."""
        return OSError(self.number, os.strerror(self.number))

    def store_error(self):
        """What SQLite raises."""
        name, text = IN_STORE[self.number]
        error = sqlite3.OperationalError(text)
        error.sqlite_errorname = name
        return error

    def use(self, monkeypatch):
        """Write to this disk from now on."""
        write, connect = Path.write_bytes, sqlite3.connect

        def write_bytes(path, data):
            if not self.refuses(path):
                return write(path, data)
            write(path, data[: len(data) // 2])
            raise self.error()

        def other(method):
            def call(path, *rest, **named):
                if self.refuses(path):
                    raise self.error()
                return method(path, *rest, **named)

            return call

        disk = self

        def connected(path, **options):
            class Connection(sqlite3.Connection):
                def execute(self, statement, *rest):
                    if WRITES.match(statement) and disk.refuses(Path(path)):
                        raise disk.store_error()
                    return super().execute(statement, *rest)

                def executemany(self, statement, rows):
                    if disk.refuses(Path(path)):
                        raise disk.store_error()
                    return super().executemany(statement, rows)

            return connect(path, factory=Connection, **options)

        monkeypatch.setattr(Path, "write_bytes", write_bytes)
        monkeypatch.setattr(Path, "replace", other(Path.replace))
        monkeypatch.setattr(Path, "mkdir", other(Path.mkdir))
        monkeypatch.setattr(sqlite3, "connect", connected)


@pytest.mark.parametrize(
    "number",
    [
        errno.ENOSPC,
        *(pytest.param(n, marks=pytest.mark.proof) for n in (errno.EACCES, errno.ENOENT)),
    ],
)
def test_any_write_may_be_refused(make, monkeypatch, number):
    """It is told with its path, no half of a file stays, and the next run ends as if nothing was."""
    whole = make("whole")
    whole.run(names=TWO)
    reasons = (os.strerror(number), IN_STORE[number][1].removeprefix("database or "))
    for refused in count(1):
        run = make(f"out-{refused}")
        with monkeypatch.context() as patched:
            disk = Disk(run.out, refused, number)
            disk.use(patched)
            said = fault_of(run)
        if disk.writes < refused:
            break
        assert f"{run.out}" in said
        assert any(reason in said for reason in reasons), (refused, said)
        assert not list(run.out.rglob("*.part"))
        run.run(names=TWO)
        assert run.files() == whole.files()
        assert run.store() == whole.store()
    assert (said, refused > 25) == ("", True)


def fault_of(run):
    """What a run says that ends with a fault."""
    try:
        run.run(names=TWO)
    except UsageError as error:
        return str(error)
    return ""
