"""A folder of its own for a call that reads or writes files, and what is in it afterwards.

It runs beside student code: standard library only.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

MOST_FILES = 50
MOST_BYTES = 2**20
"""Of all files together."""


class NoFolder(Exception):
    """Nothing may be written here."""


@contextmanager
def work_folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A working folder with some files in it.

    Raises:
        NoFolder: when student code may not write here.
    """
    before = Path.cwd()
    try:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:
        raise NoFolder from error
    with folder as name:
        for inner, content in files.items():
            path = Path(name, inner)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def files_in(folder: Path) -> dict[str, bytes]:
    """The files below a folder, as far as they may travel; no links, pipes or devices."""
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for parent, _folders, names in os.walk(folder):
        for path in (Path(parent, name) for name in sorted(names)):
            if len(found) == MOST_FILES:
                return found
            if path.is_symlink() or not path.is_file() or path.stat().st_size > left:
                continue
            with path.open("rb") as file:
                content = file.read(left)
            left -= len(content)
            found[path.relative_to(folder).as_posix()] = content
    return found
