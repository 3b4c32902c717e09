"""Which attempts count for each student, as it was found: what another run need not find again.

`choices.json` beside the outcomes of attempts. It is made from these, and may be removed at any time.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader.core.files import write_whole
from grader.grading.kept_outcomes import kept_path
from grader.submissions.moments import Moment, Times

FOLDER = "attempts"
CHOICES = "choices.json"


@dataclass(frozen=True, slots=True)
class Choice:
    """The outcomes that count for a student.

    Args:
        asked: by assignment, a hash of what decides them besides the outcomes of attempts.
        kept: a hash of these; "" where some are undecided, which are graded again.
        content: a fingerprint of what counts.
        times: when that was handed in, by assignment.
        open_: the ids of the exercises that an attempt has less than the points of, or whose checks
            were decided about, and of the assignments with a late attempt or another date.
    """

    asked: Mapping[str, str]
    kept: str
    content: str
    times: Times
    open_: tuple[str, ...] = ()

    def is_of(self, out: Path, student: str, asked: Mapping[str, str]) -> bool:
        """Whether the same counts still."""
        return self.asked == asked and self.has_all(out, student)

    def has_all(self, out: Path, student: str) -> bool:
        """Whether the outcomes of attempts are those that it was chosen from."""
        return bool(self.kept) and self.kept == hash_of_kept(out, student)


def read_choices(out: Path) -> dict[str, Choice]:
    """What was chosen in the run before, by student; nothing where that cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        data = json.loads((out / FOLDER / CHOICES).read_text("utf-8"))
        return {
            student: Choice({**asked}, kept, content, _times(times), tuple(open_))
            for student, (asked, kept, content, times, open_) in data.items()
        }
    return {}


def _times(data: Iterable[tuple[str, str, str]]) -> Times:
    return tuple((id_, Moment(datetime.fromisoformat(at), source)) for id_, at, source in data)


def write_choices(out: Path, choices: Mapping[str, Choice]) -> None:
    """Write what was chosen, by student."""
    data = {
        student: (
            *(one.asked, one.kept, one.content),
            [(id_, moment.at.isoformat(), moment.source) for id_, moment in one.times],
            one.open_,
        )
        for student, one in choices.items()
    }
    write_whole(out / FOLDER / CHOICES, json.dumps(data))


def hash_of_kept(out: Path, student: str) -> str:
    """A hash of the outcomes of a student's attempts; "" where there are none."""
    with suppress(OSError):
        return hashlib.sha256(kept_path(out / FOLDER, student).read_bytes()).hexdigest()
    return ""
