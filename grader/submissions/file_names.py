"""The names of files and folders: what they are meant to be, and which are not read."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from grader.core.text import clean

FORMS = (".py", ".ipynb")
TIMESTAMP = "timestamp.txt"

COPY = re.compile(
    r"^copy of |(?:[\s_-]+(?:copy|kopie|副本|のコピー|コピー)(?:[\s_-]*\d+)?|\s*\(\d+\))+$",
    re.IGNORECASE,
)
"""What a copy or a second download adds to a name."""


@lru_cache(maxsize=20_000)
def plain_name(name: str) -> str:
    """A file's or folder's name as it was meant: in lower case, not as that of a copy."""
    return re.sub(r"[\s-]+", "_", COPY.sub("", name).strip().lower())


MOST_DEPTH = 5
MOST_FILES = 200
MOST_ENTRIES = 10_000
"""How far below a student's folder files are looked for, how many are found, and among how many."""
ENVIRONMENT = "pyvenv.cfg"
"""The file that marks a folder as one that Python was installed into."""


def code_files(folder: str) -> Iterator["os.DirEntry[str]"]:
    """The scripts and notebooks in a folder and below it, never through a link, in a fixed order.

    Raises:
        OSError: when a folder cannot be read.
    """
    return code_of(islice(all_files(folder), MOST_ENTRIES))


def code_of(files: Iterable["os.DirEntry[str]"]) -> Iterator["os.DirEntry[str]"]:
    """Those of some files that are scripts and notebooks."""
    found = (one for one in files if one.name.lower().endswith(FORMS))
    return islice((one for one in found if not one.name.startswith(".")), MOST_FILES)


NOT_SUBMISSIONS = ("conftest", "setup", "nbgrader_config")


def work_files(folder: Path) -> Iterator[Path]:
    """The scripts and notebooks right in a folder, never through a link, in a fixed order.

    Raises:
        OSError: when the folder cannot be read.
    """
    if not folder.is_dir() or folder.is_symlink():
        return
    for path in sorted(folder.iterdir())[:MOST_ENTRIES]:
        hidden = path.name.startswith((".", "_", "test_")) or path.stem in NOT_SUBMISSIONS
        if path.suffix.lower() in FORMS and not hidden and _is_handed_in(path):
            yield path


def _is_handed_in(path: Path) -> bool:
    """Whether it is a file, or a link to nowhere, which stands for one; no other link counts."""
    if not path.is_symlink():
        return path.is_file()
    try:
        path.stat()
    except OSError as error:  # a link in a circle stands for nothing on any machine
        return isinstance(error, FileNotFoundError)
    return False


def copy_code(source: Path, target: Path, *, has_folders: bool = True) -> None:
    """Copy the scripts and notebooks of a folder, never through a link.

    Args:
        source: the folder.
        target: where to; it is made.
        has_folders: whether those in folders below it are copied as well.
    """
    target.mkdir(parents=True, exist_ok=True)
    for entry in code_files(str(source)):
        inner = Path(entry.path).relative_to(source)
        is_below = inner.parent != Path()
        if has_folders or not is_below:
            if is_below:
                (target / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(entry.path, target / inner)


def all_files(folder: str, depth: int = 1) -> Iterator["os.DirEntry[str]"]:
    """The files in a folder and below it; what tools keep there is left out.

    Raises:
        OSError: when a folder cannot be read.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    if any(entry.name == ENVIRONMENT for entry in entries):
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            yield entry
        elif depth < MOST_DEPTH and is_own_folder(entry):
            yield from all_files(entry.path, depth + 1)


def is_own_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a folder that files are looked for in: not a link, and not a tool's."""
    is_tools = entry.name.startswith((".", "__", "node_modules"))
    return not is_tools and entry.is_dir(follow_symlinks=False)


def with_ending_too_many(folder: Path, module: str) -> Path | None:
    """The file in a folder that would be read if `.txt` did not stand behind its name."""
    found = sorted(folder.glob("*.[tT][xX][tT]")) if folder.is_dir() else []
    for path in found:
        meant = Path(path.stem)
        if meant.suffix.lower() in FORMS and plain_name(meant.stem) == module:
            return path
    return None


MOST_UNREAD = 5


def unread_files(path: Path) -> tuple[str, ...]:
    """Names of files in a folder in which there is nothing to grade; a few of them."""
    below = islice(path.rglob("*"), MOST_ENTRIES)
    found = sorted(p for p in below if p.is_file() and p.name != TIMESTAMP)
    names = [clean(p.relative_to(path).as_posix(), 80) for p in found[: MOST_UNREAD + 1]]
    return (*names[:MOST_UNREAD], "…") if len(names) > MOST_UNREAD else tuple(names)
