"""The names of files and folders: what they are meant to be, and which are not read."""

import re
from pathlib import Path

from grader.core.text import clean

FORMS = (".py", ".ipynb")
TIMESTAMP = "timestamp.txt"

COPY = re.compile(
    r"^copy of |(?:[\s_-]+(?:copy|kopie|副本|のコピー|コピー)(?:[\s_-]*\d+)?|\s*\(\d+\))+$",
    re.IGNORECASE,
)
"""What a copy or a second download adds to a name."""


def plain_name(name: str) -> str:
    """A file's or folder's name as it was meant: in lower case, not as that of a copy."""
    return re.sub(r"[\s-]+", "_", COPY.sub("", name).strip().lower())


def with_ending_too_many(folder: Path, module: str) -> Path | None:
    """The file in a folder that would be read if `.txt` did not stand behind its name."""
    found = sorted(folder.glob("*.[tT][xX][tT]")) if folder.is_dir() else []
    names = ((path, Path(path.stem)) for path in found)
    return next(
        (
            path
            for path, meant in names
            if meant.suffix.lower() in FORMS and plain_name(meant.stem) == module
        ),
        None,
    )


MOST_UNREAD = 5


def unread_files(path: Path) -> tuple[str, ...]:
    """Names of files in a folder in which there is nothing to grade; a few of them."""
    found = sorted(p for p in path.rglob("*") if p.is_file() and p.name != TIMESTAMP)
    names = [clean(p.relative_to(path).as_posix(), 80) for p in found[: MOST_UNREAD + 1]]
    return (*names[:MOST_UNREAD], "…") if len(names) > MOST_UNREAD else tuple(names)
