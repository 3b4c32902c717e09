"""Outcomes as a run keeps them, apart from scores: what undoing a change needs not run again.

`outcomes/<student>.jsonl.gz` in the output folder has the last states of each assignment: a line
with a head for each, then a line with the outcomes of each. A head says what they depend on.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import convert, structs

from grader.core.files import file_name, write_whole
from grader.core.records import AssignmentResult, Record
from grader.grading.results import as_json, assignment_in_file
from grader.submissions.moments import Times

KEPT = 3
"""How many states of an assignment are kept for each student."""


class Head(Record, frozen=True):
    """What outcomes in one assignment depend on, and what else is known of the run they are of.

    Args:
        handed_in: a fingerprint of the submission.
        conditions: a hash of each thing besides that decides outcomes, by what it is in words.
        declared: a hash of the weights and words that the outcomes were written with.
        is_decided: whether the grader did not fail.
        submitted: whether anything was handed in.
        has_record: whether there are outcomes, also where nothing was handed in.
        submitted_at: when it was handed in, where the files themselves tell.
        told_at: when it was handed in by something else, which then counts.
        time_source: where that is known from.
    """

    assignment: str
    handed_in: str
    conditions: Mapping[str, str]
    declared: str
    is_decided: bool
    submitted: bool
    has_record: bool
    submission_hash: str
    isolation: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    submitted_at: str = ""
    told_at: str = ""
    time_source: str = ""

    def is_of(self, handed_in: str, conditions: Mapping[str, str]) -> bool:
        """Whether a submission would have these outcomes again under these conditions."""
        return self.is_decided and (self.handed_in, self.conditions) == (handed_in, conditions)


@dataclass(frozen=True, slots=True)
class Kept:
    """A student's outcomes, the latest last: heads, and the outcomes of each as JSON."""

    heads: tuple[Head, ...] = ()
    records: tuple[str, ...] = ()

    def latest(self, assignment: str) -> int | None:
        """The position of an assignment's latest outcomes."""
        found = [n for n, head in enumerate(self.heads) if head.assignment == assignment]
        return found[-1] if found else None

    def find(self, assignment: str, handed_in: str, conditions: Mapping[str, str]) -> int | None:
        """The position of the outcomes that a submission would have again.

        Args:
            assignment: the assignment's id.
            handed_in: a fingerprint of the submission.
            conditions: what else decides outcomes.
        """
        for number, head in reversed([*enumerate(self.heads)]):
            if head.assignment == assignment and head.is_of(handed_in, conditions):
                return number
        return None

    def is_latest(self, assignment: str, handed_in: str, conditions: Mapping[str, str]) -> bool:
        """Whether an assignment's latest outcomes are those that a submission would have again.

        Args:
            assignment: the assignment's id.
            handed_in: a fingerprint of the submission.
            conditions: what else decides outcomes.
        """
        found = self.find(assignment, handed_in, conditions)
        return found is not None and found == self.latest(assignment)

    def record(self, number: int) -> AssignmentResult | None:
        """Outcomes without scores; None where nothing was handed in at all."""
        head, data = self.heads[number], json.loads(self.records[number])
        if data is None:
            return None
        record = convert(data, AssignmentResult)
        # What is told is of the files that came.
        source, told = (head.time_source, head.told_at) if record.read_from else ("", "")
        text = told or head.submitted_at
        at = datetime.fromisoformat(text) if text else None
        return structs.replace(record, defects=head.defects, submitted_at=at, time_source=source)

    def adding(self, head: Head, record: AssignmentResult | None) -> "Kept":
        """The same with more outcomes, which are the latest; of an assignment's only a few stay."""
        return self.with_last(head, as_text(record))

    def with_attempt(self, head: Head, record: AssignmentResult | None) -> "Kept":
        """The same with the outcomes of one attempt of several; those of all others stay."""
        others = [n for n, one in enumerate(self.heads) if one.handed_in != head.handed_in]
        mine = [n for n, one in enumerate(self.heads) if one.handed_in == head.handed_in]
        added = self._of(mine).adding(head, record)
        apart = self._of(others)
        return Kept((*apart.heads, *added.heads), (*apart.records, *added.records))

    def _of(self, positions: Sequence[int]) -> "Kept":
        heads = tuple(self.heads[number] for number in positions)
        return Kept(heads, tuple(self.records[number] for number in positions))

    def with_more(self, head: Head, record: str) -> "Kept":
        """The same with outcomes, as `as_text` makes them, while the latest ones stay the latest."""
        latest = self.latest(head.assignment)
        found = self.with_last(head, record)
        if latest is None or self.heads[latest] not in found.heads:
            return found
        return found.with_latest(found.heads.index(self.heads[latest]))

    def timed(self, times: Times, assignments: Iterable[str]) -> "Kept":
        """The same with when the files were handed in that the latest outcomes are of.

        Args:
            times: when, by assignment.
            assignments: whose times are asked for.
        """
        heads, moments = [*self.heads], dict(times)
        for id_ in assignments:
            number, moment = self.latest(id_), moments.get(id_, moments.get(""))
            if number is not None:
                at, source = (moment.at.isoformat(), moment.source) if moment else ("", "")
                heads[number] = structs.replace(heads[number], told_at=at, time_source=source)
        return replace(self, heads=tuple(heads))

    def with_latest(self, number: int) -> "Kept":
        """The same with these outcomes as the latest of their assignment."""
        if self.latest(self.heads[number].assignment) == number:
            return self
        return self.with_last(self.heads[number], self.records[number])

    def taking(self, other: "Kept", number: int) -> "Kept":
        """The same with somebody else's outcomes as the latest of their assignment."""
        return self.with_last(other.heads[number], other.records[number])

    def with_last(self, head: Head, record: str) -> "Kept":
        """The same with outcomes, as `as_text` makes them, as the latest of their assignment."""
        same = [n for n, one in enumerate(self.heads) if one.assignment == head.assignment]
        different = [n for n in same if not _is_same(self.heads[n], head)]
        staying = set(different[-(KEPT - 1) :])
        positions = [n for n in range(len(self.heads)) if n not in same or n in staying]
        others = self._of(positions)
        return Kept((*others.heads, head), (*others.records, record))


def as_text(record: AssignmentResult | None) -> str:
    """Outcomes as they are kept."""
    return json.dumps(as_json(record and assignment_in_file(record)))


def _is_same(one: Head, other: Head) -> bool:
    """Whether two heads are of outcomes under the same conditions."""
    return (one.handed_in, one.conditions) == (other.handed_in, other.conditions)


def read_kept(out: Path, student: str) -> Kept:
    """A student's outcomes; none where there is no file, or one that is not whole."""
    try:
        text = gzip.decompress(kept_path(out, student).read_bytes()).decode()
        first, *records = text.splitlines()
        heads: list[Any] = json.loads(first)
        found = tuple(convert(head, Head) for head in heads)
    except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, zlib.error):
        return Kept()
    return Kept(found, tuple(records)) if len(found) == len(records) else Kept()


def write_kept(out: Path, student: str, kept: Kept) -> None:
    """Write a student's outcomes, whole or not at all."""
    heads = json.dumps(as_json(kept.heads))
    lines = "\n".join((heads, *kept.records))
    data = gzip.compress(lines.encode(), 3, mtime=0)
    write_whole(kept_path(out, student), data)


def kept_path(out: Path, student: str) -> Path:
    """Where a student's outcomes stand."""
    return out / "outcomes" / f"{file_name(student)}.jsonl.gz"
