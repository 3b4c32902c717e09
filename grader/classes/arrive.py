"""What a class handed in, as keys of outcomes: a hash of everything that decides an outcome."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from grader.classes.outcomes import AssignmentOutcome, failed
from grader.classes.store import Use
from grader.course.course import Course
from grader.intake.folders import Student
from grader.submissions.digests import Digests, digests
from grader.submissions.faults import FAULTS
from grader.submissions.file_names import unread_files
from grader.submissions.moments import Moment

Conditions = Mapping[str, Mapping[str, str]]
"""By assignment, a hash of each thing besides files that decides outcomes, by what it is in words."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What one student handed in.

    Args:
        uses: by assignment, the outcome of each time, the first one first.
        places: by the key of an outcome, the folder with its files, and the assignment's id.
        known: outcomes that are known without running anything, by key.
        unread: files that were handed in, where none of them can be read as work.
    """

    uses: Mapping[str, tuple[Use, ...]] = field(default_factory=dict)
    places: Mapping[bytes, tuple[Path, str]] = field(default_factory=dict)
    known: Mapping[bytes, AssignmentOutcome] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what students handed in.

    Args:
        course: the course.
        conditions: what else decides outcomes.
    """

    course: Course
    conditions: Conditions

    def arrival(self, student: Student, graded: Sequence[str]) -> Arrival:
        """What a student handed in; nothing is run.

        Args:
            student: who.
            graded: the ids of the assignments that are graded.
        """
        if student.refused:
            key = token_hex(16).encode()
            uses = {id_: (Use(0, key + id_.encode()),) for id_ in graded}
            known = {use.key: failed(id_, student.refused) for id_, (use,) in uses.items()}
            return Arrival(uses, known=known)
        if student.path is None:
            return Arrival()
        if student.attempts:
            return self._of_attempts(student, graded)
        found = _digests(self.course, student.path)
        if not found.has_files:
            return Arrival(unread=unread_files(student.path) if student.path.is_dir() else ())
        times, folder = dict(student.times), student.path
        uses, places = {}, {}
        for id_ in graded:
            own = Moment(found.times[id_]) if id_ in found.times else None
            moment = times.get(id_, times.get("")) or own
            use = self._use(0, id_, found.by_assignment[id_], moment)
            uses[id_], places[use.key] = (use,), (folder, id_)
        return Arrival(uses, places)

    def _of_attempts(self, student: Student, graded: Sequence[str]) -> Arrival:
        """The same of several times; one that changes nothing of an assignment is none of it."""
        uses: dict[str, list[Use]] = {id_: [] for id_ in graded}
        places: dict[bytes, tuple[Path, str]] = {}
        last = student.attempts[-1]
        found = [_digests(self.course, attempt.path) for attempt in student.attempts]
        for attempt, now in zip(student.attempts, found, strict=True):
            for id_, own in uses.items():
                work = now.by_assignment[id_]
                is_new = not own or own[-1].work != work
                is_meant = id_ in (attempt.only or uses)
                is_last = attempt is last and not own  # nothing of it is an outcome as well
                if (is_new and is_meant) or is_last:
                    use = self._use(len(own) + 1, id_, work, attempt.moment)
                    own.append(use)
                    places.setdefault(use.key, (attempt.path, id_))
        return Arrival({id_: tuple(own) for id_, own in uses.items()}, places)

    def _use(self, number: int, id_: str, work: str, moment: Moment | None) -> Use:
        decides = repr((id_, work, sorted(self.conditions[id_].items())))
        key = hashlib.blake2b(decides.encode(), digest_size=16).digest()
        at, source = (moment.at.isoformat(), moment.source) if moment else ("", "")
        return Use(number, key, at, source, work)


def _digests(course: Course, path: Path) -> Digests:
    """Hashes of what was handed in; never the same where something is unreadable."""
    try:
        return digests(course, path)
    except FAULTS:
        unreadable = f"unreadable {token_hex(16)}"
        return Digests(dict.fromkeys(course.by_id, unreadable))


def changed_conditions(before: Conditions, now: Conditions) -> dict[str, tuple[str, ...]]:
    """What decides outcomes otherwise than in the run before, by assignment, in words."""
    changed = {}
    for id_, parts in now.items():
        earlier = before.get(id_, parts)
        names = dict.fromkeys((*parts, *earlier))
        if found := tuple(name for name in names if parts.get(name) != earlier.get(name)):
            changed[id_] = found
    return changed
