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
from grader.core.records import Result
from grader.grading.kept_outcomes import kept_path
from grader.submissions.moments import Moment, Times

FOLDER = "attempts"
CHOICES = "choices.json"


@dataclass(frozen=True, slots=True)
class Choice:
    """The outcomes that count for a student.

    Args:
        asked: a hash of what decides them besides the outcomes of attempts.
        kept: a hash of these; "" where some are undecided, which are graded again.
        content: a fingerprint of what counts.
        times: when that was handed in, by assignment.
        open_: the ids of the exercises that an attempt has less than the points of, or whose checks
            were decided about, and of the assignments with a late attempt or another date.
    """

    asked: str
    kept: str
    content: str
    times: Times
    open_: tuple[str, ...] = ()

    def is_of(self, out: Path, student: str, asked: str) -> bool:
        """Whether the same counts still."""
        return bool(self.kept) and (self.asked, self.kept) == (asked, _hash_of_kept(out, student))


def choice_of(out: Path, asked: str, outcomes: Result, open_: tuple[str, ...]) -> Choice:
    """What was chosen for a student.

    Args:
        out: the run's folder.
        asked: a hash of what decides it besides the outcomes of attempts.
        outcomes: those that count.
        open_: exercises and assignments that a decision may change; see `Choice`.
    """
    times = tuple(
        (one.id, Moment(one.submitted_at, one.time_source))
        for one in outcomes.assignments
        if one.submitted_at
    )
    said = repr(
        [(one.id, one.submitted_at, one.attempts, one.exercises) for one in outcomes.assignments]
    )
    is_decided = all(one.score is not None for a in outcomes.assignments for one in a.attempts)
    kept = _hash_of_kept(out, outcomes.student) if is_decided else ""
    return Choice(asked, kept, _hash(said.encode("utf-8", "replace")), times, open_)


def read_choices(out: Path) -> dict[str, Choice]:
    """What was chosen in the run before, by student; nothing where that cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        data = json.loads((out / FOLDER / CHOICES).read_text("utf-8"))
        return {
            student: Choice(asked, kept, content, _times(times), tuple(open_))
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


def _hash_of_kept(out: Path, student: str) -> str:
    with suppress(OSError):
        return _hash(kept_path(out / FOLDER, student).read_bytes())
    return ""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
