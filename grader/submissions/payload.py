"""What a student handed in, as data, to send it elsewhere."""

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.submissions.file_names import MOST_ENTRIES, TIMESTAMP, all_files, code_of
from grader.submissions.notebooks import MAX_BYTES as MAX_NOTEBOOK_BYTES

MOST_BYTES = MAX_NOTEBOOK_BYTES + 1
"""Of a longer file no more is read: it is not graded, and its size says so."""
MOST_IN_ALL = 2**28
"""The bytes that are read of one student's files; of those after them the size alone counts."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The files of a submission that matter.

    Args:
        student: whose they are.
        is_single: whether one file was handed in instead of a folder.
        files: path inside the submission, the first bytes, and the size; in a fixed order.
    """

    student: str
    is_single: bool
    files: tuple[tuple[str, bytes, int], ...]

    def unpack(self, folder: Path) -> Path:
        """Write the files below an empty folder; the path to read the submission from."""
        for name, data, size in self.files:
            path = folder / self.student / PurePosixPath(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if size > len(data):
                os.truncate(path, size)
        root = folder / self.student
        root.mkdir(exist_ok=True)
        return root / self.files[0][0] if self.is_single else root


def read_payload(path: Path, student: str) -> Payload:
    """Read a student's folder or single file, never through a link.

    Args:
        path: the folder or file.
        student: whose it is.

    Raises:
        OSError: when a file cannot be read.
    """
    if path.is_file():
        return Payload(student, True, (_file(path.name, os.fspath(path)),))
    root = os.fspath(path)
    found = [*islice(all_files(root), MOST_ENTRIES)]
    found = [*code_of(found), *(one for one in found if one.name == TIMESTAMP)]
    files, room = [], MOST_IN_ALL
    for one in found:
        files.append(_file(_inner(one, root), one.path, room))
        room -= len(files[-1][1])
    return Payload(student, False, tuple(sorted(files)))


def _inner(entry: "os.DirEntry[str]", root: str) -> str:
    return entry.path[len(root) :].lstrip(os.sep).replace(os.sep, "/")


def _file(name: str, path: str, room: int = MOST_BYTES) -> tuple[str, bytes, int]:
    with open(path, "rb") as file:  # noqa: PTH123 (a class has ten thousand of them)
        size = os.fstat(file.fileno()).st_size
        # Memory is allotted for as many as are asked for.
        data = file.read(min(size + 1, MOST_BYTES, room))
    return name, data, max(size, len(data))
