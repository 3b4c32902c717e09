"""When something was handed in, and where that is known from."""

from dataclasses import dataclass
from datetime import UTC, datetime

from grader.core.language import N_

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
