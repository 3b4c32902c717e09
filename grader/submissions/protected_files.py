"""The files of a student repository that are not the student's: hashed, and compared again later.

The list has the form of `sha256sum`, so that `sha256sum --check` reads it, too. Whoever can change
a protected file can change the list as well; its own fingerprint, which is printed at release
and shown in every report, reveals that.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from grader.core.language import N_
from grader.course.course import WORK

PROTECTED = "protected.sha256"
RELEASED = "released.sha256"
"""The same list for every copy: nothing is kept to it, `grader doctor` tells what differs."""
FOLDERS = (".github", "grader", "tests")
"""Nothing belongs into these besides what is on the list."""
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
NOT_COUNTED = ("__pycache__", ".pytest_cache")


@dataclass(frozen=True, slots=True)
class Change:
    """A protected file that is not as it was released.

    Args:
        path: inside the repository, with `/`.
        what: "changed", "missing" or "added"; it is shown through `_`.
    """

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Protection:
    """What a repository's list says.

    Args:
        fingerprint: the first characters of the list's own hash.
        changes: the files that differ, by path.
    """

    fingerprint: str
    changes: tuple[Change, ...]


def protected_list(files: Mapping[str, bytes]) -> str:
    """The list of files by path, in order."""
    lines = [f"{_digest(content)}  {path}" for path, content in files.items()]
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line[66:]))


def fingerprint(text: str) -> str:
    """Sixteen characters that stand for a list."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def protection(root: Path) -> Protection | None:
    """Compare a repository with its list; None where it has none and needs none."""
    path = root / PROTECTED
    if not path.is_file():
        return None
    text = path.read_text("utf-8", errors="replace").replace("\r\n", "\n")
    changes = sorted(_changes(root, _listed(text)), key=lambda change: change.path)
    return Protection(fingerprint(text), tuple(changes))


def released_changes(root: Path) -> tuple[Change, ...] | None:
    """Compare a copy with what was released; None where it has no list.

    Work is not compared, only missed; line ends may be Windows'.
    """
    path = root / RELEASED
    if not path.is_file():
        return None
    listed = _listed(path.read_text("utf-8", errors="replace"))
    found = _unlike(root, listed, lambda data: data.replace(b"\r\n", b"\n"))
    return tuple(c for c in found if c.what == "missing" or not c.path.startswith(f"{WORK}/"))


def _listed(text: str) -> dict[str, str]:
    """The hashes of a list, by path."""
    return {match[2]: match[1] for match in map(LINE.fullmatch, text.splitlines()) if match}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _unlike(
    root: Path, listed: Mapping[str, str], alike: Callable[[bytes], bytes] = bytes
) -> Iterator[Change]:
    """The files that are missing, or have another hash, also where what is alike is hashed."""
    for name, digest in listed.items():
        path = root / name
        data = path.read_bytes() if path.is_file() else None
        if data is None:
            yield Change(name, N_("missing"))
        elif digest not in map(_digest, (data, alike(data))):
            yield Change(name, N_("changed"))


def _changes(root: Path, listed: Mapping[str, str]) -> Iterator[Change]:
    yield from _unlike(root, listed)
    for path in chain.from_iterable((root / folder).rglob("*") for folder in FOLDERS):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name not in listed and not set(NOT_COUNTED) & set(path.parts):
            yield Change(name, N_("added"))
