"""Every write of a class run refused in turn: nothing is lost, nothing is half, the next run goes on."""

import errno
import os
from itertools import count
from pathlib import Path

import pytest
from grader.judging.journal import Journal

from grader.core.errors import UsageError

TWO = ["student-00", "student-01"]


class Disk:
    """A disk that refuses one of the writes into a folder, after half of the bytes.

    Args:
        folder: where writes are counted.
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

    def use(self, monkeypatch):
        """Write to this disk from now on."""
        write, replace, mkdir, enter = (
            *(Path.write_bytes, Path.replace, Path.mkdir),
            Journal.__enter__,
        )

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

        def entered(journal):
            enter(journal)
            journal.file = Lines(journal.file, self, journal.out)
            return journal

        monkeypatch.setattr(Path, "write_bytes", write_bytes)
        monkeypatch.setattr(Path, "replace", other(replace))
        monkeypatch.setattr(Path, "mkdir", other(mkdir))
        monkeypatch.setattr(Journal, "__enter__", entered)


class Lines:
    """The journal's file on such a disk."""

    def __init__(self, file, disk, folder):
        self.file, self.disk, self.folder = file, disk, folder

    def write(self, text):
        """Write, or refuse after half of the text."""
        if self.disk.refuses(self.folder):
            self.file.write(text[: len(text) // 2])
            self.file.flush()
            raise self.disk.error()
        return self.file.write(text)

    def __getattr__(self, name):
        return getattr(self.file, name)


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
    for refused in count(1):
        run = make(f"out-{refused}")
        with monkeypatch.context() as patched:
            disk = Disk(run.out, refused, number)
            disk.use(patched)
            said = fault_of(run)
        if disk.writes < refused:
            break
        assert f"{run.out}" in said
        assert os.strerror(number) in said
        assert not list(run.out.rglob("*.part"))
        run.run(names=TWO)
        assert run.files() == whole.files()
    assert (said, refused > 15) == ("", True)


def fault_of(run):
    """What a run says that ends with a fault."""
    try:
        run.run(names=TWO)
    except UsageError as error:
        return str(error)
    return ""
