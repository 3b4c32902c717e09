"""When something was handed in, as nbgrader writes it beside a submission."""

from datetime import datetime
from pathlib import Path

from grader.core.language import _
from grader.submissions.file_names import TIMESTAMP
from grader.submissions.moments import parsed


def handed_in_at(*folders: Path) -> tuple[datetime | None, tuple[str, ...]]:
    """The time that nbgrader wrote into the first of these folders, or why there is none."""
    notes: tuple[str, ...] = ()
    for folder in folders:
        path = folder / TIMESTAMP
        if path.is_file():
            if not folder.is_symlink() and not path.is_symlink() and (moment := _moment(path)):
                return moment, ()
            note = _("{file} holds no date and time: nothing is taken for late.")
            notes = (note.format(file=TIMESTAMP),)
    return None, notes


def _moment(path: Path) -> datetime | None:
    """The moment that a file holds, if that is what it holds."""
    try:
        text = path.read_text("utf-8") if path.stat().st_size <= 100 else ""
    except ValueError:
        return None
    return parsed(text)
