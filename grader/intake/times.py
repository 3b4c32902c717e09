"""When students handed in, as a platform or an instructor lists it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from grader.core.errors import UsageError
from grader.course.course import Course
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled, find_enrolled, read_roster
from grader.intake.tables import read_text, table_of
from grader.submissions.moments import BY_CANVAS, BY_FILE, BY_MOODLE, Moment, parsed

MOODLES = (
    *("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M"),
    *("%A, %B %d, %Y, %I:%M %p", "%B %d, %Y, %I:%M %p"),
)
"""How Moodle writes a date in English; it names no zone."""

WHAT = "list of times"
MARKED_LATE = (
    "the platform marks this as late; it does not say by how much, so nothing is taken off. --times "
    "with its list of submissions tells."
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of a list of times.

    Args:
        name: whose, as the list writes it.
        number: the platform's number for them, "" where it gives none.
        text: the time, as the list writes it.
        source: what list it is.
        assignment: of which assignment; "" for all.
    """

    name: str
    number: str
    text: str
    source: str
    assignment: str = ""


def with_times(course: Course, intake: IntakeResult, path: Path | None) -> IntakeResult:
    """A class with the times of a list, or else of Moodle's worksheet where that is the roster.

    Attempts have their own times.

    Args:
        course: the course.
        intake: the class.
        path: Canvas's submissions as JSON, Moodle's worksheet, or a CSV with columns `student` and
            `submitted_at`, perhaps `assignment`.

    Raises:
        UsageError: when the list cannot be read.
    """
    found = [*_of_roster(intake.roster.values())] if path is None else _listed(path)
    enrolled = [intake.roster.get(s.id, Enrolled(s.id)) for s in intake.students]
    times: dict[str, dict[str, Moment]] = {}
    unplaced, unread = [], []
    for one in found:
        if one.assignment and one.assignment not in course.by_id:
            raise UsageError(f"{path} names {one.assignment!r}, which is no assignment's id.")
        meant = find_enrolled(enrolled, one.name, one.number)
        moments = dict(_moments(course, one))
        if not moments:
            unread.append(one)
        elif len(meant) != 1:
            unplaced.append(one.name or one.number)
        else:
            times.setdefault(meant[0].student, {}).update(moments)
    students = [
        replace(s, times=tuple(times[s.id].items())) if s.id in times and not s.attempts else s
        for s in intake.students
    ]
    untold = sorted(student for student in intake.marked_late if student not in times)
    late = (f"{student}: {MARKED_LATE}" for student in untold)
    notes = [*intake.notes, *late, *_notes(unplaced, unread)]
    several = sum(bool(one.attempts) for one in intake.students)
    if several and path is not None:
        notes.append(
            f"Attempts have times of their own: for {several} of the class {path} does not count."
        )
    return replace(intake, students=students, notes=tuple(notes))


def _notes(unplaced: Sequence[str], unread: Sequence[Listed]) -> Iterator[str]:
    if unplaced:
        names = ", ".join(unplaced[:5]) + (" …" if len(unplaced) > 5 else "")
        yield f"The list of times has {len(unplaced)} who are nobody here, or several: {names}."
    if unread:
        yield (
            f"The list of times says {unread[0].text!r} of {unread[0].name or unread[0].number}, which "
            f"is no date that can be read: nothing of theirs ({len(unread)} in all) is taken for late."
        )


def _moments(course: Course, one: Listed) -> Iterator[tuple[str, Moment]]:
    """The time for each assignment that it is of; none where it cannot be read."""
    for assignment in course.assignments:
        if one.assignment in ("", assignment.id):
            zone = assignment.due.tzinfo if assignment.due is not None else None
            at = _moodles(one.text, zone) if one.source == BY_MOODLE else parsed(one.text)
            if at is not None:
                yield assignment.id, Moment(at, one.source)


def _moodles(text: str, zone: tzinfo | None) -> datetime | None:
    """A date as Moodle writes it, in the zone of the due date that it is compared with."""
    for form in MOODLES:
        with suppress(ValueError):
            at = datetime.strptime(text, form)
            return at.replace(tzinfo=zone) if zone is not None else parsed(at.isoformat())
    return parsed(text)


def _of_roster(enrolled: Iterable[Enrolled]) -> Iterator[Listed]:
    for one in enrolled:
        if one.modified.strip("- "):
            yield Listed(one.student, one.number, one.modified, BY_MOODLE)


def _listed(path: Path) -> list[Listed]:
    text = read_text(path, WHAT)
    if text.lstrip()[:1] in ("[", "{"):
        return [*_canvas(path, text)]
    columns, rows = table_of(text, path, WHAT)
    if {"student", "submitted_at"} <= {*columns}:
        filled = (row for row in rows if row["submitted_at"])
        return [
            Listed(row["student"], "", row["submitted_at"], BY_FILE, row.get("assignment", ""))
            for row in filled
        ]
    found = [*_of_roster(read_roster(path))]
    if not found:
        raise UsageError(
            f"The list of times {path} is neither a CSV with columns `student` and `submitted_at`, nor "
            "Moodle's grading worksheet with a time in it, nor Canvas's submissions as JSON."
        )
    return found


def _canvas(path: Path, text: str) -> Iterator[Listed]:
    """Canvas's list of submissions, as its API gives it: `user_id` and `submitted_at`."""
    try:
        entries: Any = json.loads(text)
        found = [(str(one["user_id"]), one.get("submitted_at") or "") for one in entries]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"The list of times {path} is no list of Canvas's submissions, with `user_id` and "
            f"`submitted_at` in each ({error!r})."
        ) from error
    for number, at in found:
        if at:
            yield Listed("", number, str(at), BY_CANVAS)
