"""One decision of a form, written into the text of `decisions.toml`, whose comments and order stay."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import tomlkit

from grader.classes.decisions import Decisions, Group
from grader.core.errors import UsageError
from grader.course.course import Course
from grader.course.toml_table import toml_text

OF_STUDENTS = ("overrides", "comments", "extensions", "exemptions", "labels", "resolved", "groups")
"""The kinds of decisions that are about one student, and that a form may write."""

WHO_AND_WHAT = ("student", "exercise", "assignment", "exercises", "label")
"""The keys that say whom an entry is about, and what."""
TABLES = re.compile(r"(?m)^(?=[ \t]*\[)")
"""Where a table begins; what a text has in several lines is no entry by itself, and is refused."""

Fields = Mapping[str, str]
"""What a form sent, by the names of its fields; empty ones are left out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision about one student as it stands in the file.

    Args:
        kind: the key of its list.
        position: where in the list it stands, from 0.
        decision: what it says.
    """

    kind: str
    position: int
    decision: Any

    @property
    def about(self) -> str:
        """The id of what it is about, or the label that it gives."""
        one = self.decision
        names = ("exercise", "assignment", "label")
        about = next(filter(None, (getattr(one, name, "") for name in names)), "")
        return about or ", ".join(getattr(one, "exercises", ()))


def entries_about(decisions: Decisions, student: str) -> list[Entry]:
    """What was decided about one student by name, in the order of the file."""
    return [
        Entry(kind, position, one)
        for kind in OF_STUDENTS
        for position, one in enumerate(getattr(decisions, kind))
        if student in (one.students if isinstance(one, Group) else (one.student,))
    ]


def values_of(kind: str, fields: Fields, course: Course) -> dict[str, object]:
    """What stands in an entry that a form asks for; nothing where it is to be taken away.

    Args:
        kind: one of `OF_STUDENTS`.
        fields: what the form sent.
        course: whose zone its dates are in.

    Raises:
        UsageError: when a number or a date is none.
    """
    about, reason = fields.get("about", ""), fields.get("reason", "")
    target = {"exercise" if "/" in about else "assignment": about} if about else {}
    said = {"reason": reason} if reason else {}
    if kind == "groups":
        others = (name.strip() for name in fields.get("others", "").split(","))
        names = dict.fromkeys((fields["student"], *filter(None, others)))
        return {"students": [*names], **target}
    if kind == "overrides":
        return {**target, "points": _number(fields.get("points", ""), float), **said}
    if kind == "comments":
        return {**target, "text": fields["text"]} if fields.get("text") else {}
    if kind == "extensions":
        days = {"days": _number(fields["days"], int)} if fields.get("days") else {}
        until = {"until": _moment(fields["until"], about, course)} if fields.get("until") else {}
        return {**target, **days, **until, **said}
    if kind == "exemptions":
        exempt = {"exercises": [about]} if "/" in about else target
        return {**exempt, **said}
    if kind == "labels":
        return {"label": fields.get("label", "")}
    return {**target, **said}


def _number(text: str, kind: type[int] | type[float]) -> float:
    try:
        found = kind(text.replace(",", "."))
    except ValueError:
        raise UsageError(f"{text!r} is no number.") from None
    return int(found) if found == found // 1 else found


def _moment(text: str, assignment: str, course: Course) -> datetime:
    """A date as a browser sends it, which has no zone: the one of the due date."""
    due = course.by_id[assignment].due if assignment in course.by_id else None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=due.tzinfo if due else None)
    except ValueError:
        raise UsageError(f"{text!r} is no date with a time.") from None


def position_of(kind: str, values: Mapping[str, object], entries: Sequence[Entry]) -> int | None:
    """Where in its list the entry stands whose place new values take; None for a new one.

    Args:
        kind: the key of the list.
        values: what the entry is to say.
        entries: what was decided about the student.
    """
    about = {name: values[name] for name in WHO_AND_WHAT[1:] if values.get(name)}
    for one in entries:
        named = {name: getattr(one.decision, name, None) for name in WHO_AND_WHAT[1:]}
        named = {name: [*v] if isinstance(v, tuple) else v for name, v in named.items() if v}
        if one.kind == kind and named == about:
            return one.position
    return None


def edited(text: str, kind: str, position: int | None, values: Mapping[str, object]) -> str:
    """The text of the file with one entry more, with another one, or without it.

    Args:
        text: as it is.
        kind: the key of the list.
        position: of the entry that is changed; None for a new one.
        values: what it says from now on; nothing to take it away.

    Raises:
        UsageError: when the file is written in a way that cannot be changed here.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    if position is None:
        lines = [f"[[{kind}]]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
        head = text.rstrip() + newline * 2 if text.strip() else ""
        return head + newline.join((*lines, ""))
    parts = TABLES.split(text)
    number = _part_of(parts, kind, position, text)
    entry, after = _without_end(parts[number])
    if values:
        document = tomlkit.parse(entry)
        table: Any = document[kind][0]
        for name in [name for name in table if name not in (*WHO_AND_WHAT, *values)]:
            del table[name]
        for name, value in values.items():
            if name not in WHO_AND_WHAT:  # these are as they are written, which may be shorter
                table[name] = value
        parts[number] = tomlkit.dumps(document) + after
    else:
        parts[number] = after.lstrip("\r\n")
    return "".join(parts)


def said_in_a_form(problems: Iterable[str], kind: str, number: int) -> list[str]:
    """What is wrong in a file: of the entry that a form made, without its place in the file."""
    place = f"{kind}[{number}]."
    return [problem.partition(place)[2] or problem for problem in problems]


def _part_of(parts: Sequence[str], kind: str, position: int, text: str) -> int:
    """Which part of a file is an entry.

    Raises:
        UsageError: when it stands in no part of its own, as in a list on one line.
    """
    heading = re.compile(rf"[ \t]*\[\[[ \t]*{kind}[ \t]*\]\]")
    found = [number for number, part in enumerate(parts) if heading.match(part)]
    with suppress(IndexError, ValueError, KeyError):
        entry = tomllib.loads(parts[found[position]])[kind]
        if entry == [tomllib.loads(text)[kind][position]]:
            return found[position]
    raise UsageError(f"This entry of {kind} cannot be changed here. Change it in the file itself.")


def _without_end(part: str) -> tuple[str, str]:
    """An entry without the comments and empty lines after it, which are of the next one."""
    lines = part.splitlines(keepends=True)
    size = len(lines)
    while size > 1 and (not lines[size - 1].strip() or lines[size - 1].lstrip().startswith("#")):
        size -= 1
    return "".join(lines[:size]), "".join(lines[size:])


def _toml(value: object) -> str:
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return value.isoformat() if isinstance(value, datetime) else str(value)
