"""When something was handed in, and where that is known from."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.core.language import N_, _
from grader.submissions.file_names import TIMESTAMP

BY_FOLDER = N_("the folder's name")
BY_GIT = N_("git's commits")
BY_MOODLE = N_("Moodle's worksheet")
BY_CANVAS = N_("Canvas's submissions")
BY_FILE = N_("your instructor's list")


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was handed in.

    Args:
        at: the moment, with its zone.
        source: where it is known from, one of this module's; "" for nbgrader's timestamp.
    """

    at: datetime
    source: str = ""


Times = tuple[tuple[str, Moment], ...]
"""When what was handed in, by assignment; "" stands for every assignment that has no entry."""


def parsed(text: str) -> datetime | None:
    """A date with a time of day in ISO's form, or as nbgrader writes it; None for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip().replace(" UTC", "+00:00"))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)  # a zone may lead out of the years that there are
    except (ValueError, OverflowError):
        return None
    return moment


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
