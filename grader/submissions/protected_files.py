"""The files of a student repository that are not the student's: hashed, and compared again later.

The list has the form of `sha256sum`, so that `sha256sum --check` reads it, too. Whoever can change
a protected file can change the list as well; its own fingerprint, which is printed at release
and shown in every report, reveals that.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.core.language import N_

PROTECTED = "protected.sha256"
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
    lines = [f"{hashlib.sha256(content).hexdigest()}  {path}" for path, content in files.items()]
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
    listed = {match[2]: match[1] for match in map(LINE.fullmatch, text.splitlines()) if match}
    changes = [*_differences(root, listed), *_additions(root, listed)]
    return Protection(fingerprint(text), tuple(sorted(changes, key=lambda change: change.path)))


def _differences(root: Path, listed: Mapping[str, str]) -> Iterable[Change]:
    for name, digest in listed.items():
        path = root / name
        if not path.is_file():
            yield Change(name, N_("missing"))
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield Change(name, N_("changed"))


def _additions(root: Path, listed: Mapping[str, str]) -> Iterable[Change]:
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root).as_posix()
            is_kept = path.is_file() and not set(NOT_COUNTED) & set(path.parts)
            if is_kept and name not in listed:
                yield Change(name, N_("added"))
