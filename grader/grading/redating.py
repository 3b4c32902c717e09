"""A result whose course has other dates, and nothing else that is new: its few lines made anew.

The lines of exercises and checks, which are nearly all of a file, stay as they are.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from grader.course.course import Course
from grader.grading.class_files import Row, Written, feedback_path, record_path
from grader.grading.results import exact, json_text, points
from grader.grading.scoring import Lateness, days_late, lateness, total

UNCLOSED = "]}"
"""What a line lacks whose exercises or assignments stand in the lines after it."""


def redated(course: Course, row: Row, out: Path) -> Written | None:
    """A student's files with the course's present dates; None where they cannot be read.

    Args:
        course: with the same exercises, points and checks as when the files were written.
        row: of the student, as it was then.
        out: the output folder.
    """
    raw = {id_: _points_without_lateness(row, id_) for id_ in row.assignments}
    days = {id_: days_late(course.by_id[id_].due, _time(row, id_), course.late) for id_ in raw}
    late = {id_: lateness(course.late, days[id_], raw[id_]) for id_ in raw}
    paths = (record_path(out, row.student), feedback_path(out, row.student))
    try:
        texts = (path.read_text("utf-8") for path in paths)
        record, feedback = (_text(text, course, row.student, late) for text in texts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Written(_row(row, late), record, feedback)


def _points_without_lateness(row: Row, assignment: str) -> Decimal | None:
    scores = [s for id_, s in row.exercises.items() if id_.partition("/")[0] == assignment]
    return total(map(exact, scores))


def _time(row: Row, assignment: str) -> datetime | None:
    text = row.submitted_at.get(assignment)
    return datetime.fromisoformat(text) if text else None


def _row(row: Row, late: Mapping[str, Lateness]) -> Row:
    if not late:
        return row
    earned = total(map(exact, row.exercises.values()))
    score = total(one.score for one in late.values())
    return replace(
        row,
        score=points(score),
        assignments={id_: points(one.score) for id_, one in late.items()},
        days_late=max(one.days for one in late.values()),
        off=None if earned is None or score is None else points(earned - score),
    )


def _text(text: str, course: Course, student: str, late: Mapping[str, Lateness]) -> str:
    """A file with other lines for the result as a whole and for its assignments.

    Args:
        text: the file as it is.
        course: the course.
        student: the student's id.
        late: how late each assignment was.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: when it is not a file of this result.
    """
    first, *lines = text.split("\n")
    whole, is_open = _parsed(first)
    if whole["student"] != student or sum(line.startswith(" {") for line in lines) != len(late):
        raise ValueError(first)
    whole["course_hash"] = course.hash
    if late:
        whole["score"] = points(total(one.score for one in late.values()))
    for number, line in enumerate(lines):
        if line.startswith(" {"):
            lines[number] = _assignment(line, late)
    return "\n".join((json_text(whole).removesuffix(UNCLOSED if is_open else ""), *lines))


def _assignment(line: str, late: Mapping[str, Lateness]) -> str:
    entry, _ = _parsed(line)
    now = late[entry["id"]]
    others = entry["notes"][: -1 if entry["days_late"] else None]
    entry |= {
        "score": points(now.score),
        "days_late": now.days,
        "notes": [*others, *now.notes],
    }
    return " " + json_text(entry).removesuffix(UNCLOSED)


def _parsed(line: str) -> tuple[dict[str, Any], bool]:
    """A line's entry, and whether it is closed in a later line."""
    is_open = line.endswith("[")
    return json.loads(line + UNCLOSED * is_open), is_open
