"""Adds assignments and exercises to the text of a `course.toml`: comments and layout stay.

What an edit made of the text is read and compared with what it should be, so that a layout that is
not understood here is refused, and never written wrongly.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from grader.core.errors import UsageError
from grader.core.records import added
from grader.course.course import MANIFEST

BLOCK = re.compile(r"(?m)^(?=\[\[assignments\]\])")
EXERCISES = re.compile(r"(?m)^\[assignments\.exercises\][^\n]*\n")
POINTS = re.compile(r"(?ms)(^\[course\][^\n]*\n(?:(?!^\[).)*?^points[ \t]*=[ \t]*)([0-9.]+)( *)")
TABLE = re.compile(r"(?m)^\[")


def with_exercise(text: str, assignment: str, name: str, points: float, after: str = "") -> str:
    """The manifest with an exercise more, and its points in the course's total.

    Args:
        text: the manifest.
        assignment: the id of the exercise's assignment.
        name: what the student defines.
        points: what it is worth.
        after: the exercise that stands before it; the assignment's last one unless given.

    Raises:
        UsageError: when the text has another layout than this can change.
    """
    wanted = tomllib.loads(text)
    entry = next(one for one in wanted["assignments"] if one["id"] == assignment)
    entry["exercises"] = _inserted(entry["exercises"], name, points, after)
    blocks = [_with_line(block, assignment, name, points, after) for block in BLOCK.split(text)]
    return _proven(_raised("".join(blocks), wanted, points), wanted, f"{name} = {points}")


def with_assignment(text: str, id_: str, title: str, exercises: Mapping[str, float]) -> str:
    """The manifest with an assignment more, the last one, and its points in the course's total.

    Args:
        text: the manifest.
        id_: the assignment's id.
        title: its title, as TOML writes it: with its quotes.
        exercises: the points of each.

    Raises:
        UsageError: when the text has another layout than this can change.
    """
    lines = "".join(f"{name} = {points}\n" for name, points in exercises.items())
    block = f'[[assignments]]\nid = "{id_}"\ntitle = {title}\n[assignments.exercises]\n{lines}'
    wanted = tomllib.loads(text)
    wanted.setdefault("assignments", []).extend(tomllib.loads(block)["assignments"])
    changed = _raised(f"{text.rstrip()}\n\n{block}", wanted, added(exercises.values()))
    return _proven(changed, wanted, block)


def _inserted(
    exercises: Mapping[str, float], name: str, points: float, after: str
) -> dict[str, float]:
    """The exercises with one more, in order."""
    names = list(exercises)
    names.insert(names.index(after) + 1 if after else len(names), name)
    return {one: exercises.get(one, points) for one in names}


def _with_line(block: str, assignment: str, name: str, points: float, after: str) -> str:
    """An assignment's text with a line for an exercise; as it is where it is another one's."""
    head = EXERCISES.search(block)
    if head is None or not re.search(rf"""(?m)^id[ \t]*=[ \t]*["']{assignment}["']""", block):
        return block
    following = TABLE.search(block, head.end())
    entries = block[head.end() : following.start() if following else None]
    keys = re.escape(after) if after else r"\w+"
    found = list(re.finditer(rf"(?m)^[ \t]*{keys}[ \t]*=[^\n]*(?:\n|\Z)", entries))
    if not found:
        return block
    end = head.end() + found[-1].end()
    before = block[:end] if block[:end].endswith("\n") else f"{block[:end]}\n"
    return f"{before}{name} = {points}\n{block[end:]}"


def _raised(text: str, wanted: dict[str, Any], points: float) -> str:
    """The text with more points in the course's total, where it has one; what is wanted, too."""
    if "points" not in wanted.get("course", {}):
        return text
    wanted["course"]["points"] = added((wanted["course"]["points"], points))
    total = str(wanted["course"]["points"])

    def put(match: re.Match[str]) -> str:
        space = len(match[3]) + len(match[2]) - len(total)
        return match[1] + total + " " * max(space, min(len(match[3]), 1))

    return POINTS.sub(put, text, count=1)


def _proven(text: str, wanted: dict[str, Any], line: str) -> str:
    """A text that says what is wanted, in this order.

    Raises:
        UsageError: when it does not.
    """
    try:
        if repr(tomllib.loads(text)) == repr(wanted):
            return text
    except tomllib.TOMLDecodeError:
        pass
    raise UsageError(
        f"{MANIFEST} is written in a way that no line can be added to. Write its assignments as "
        f"[[assignments]], each with a table [assignments.exercises]. What is to be added:\n{line}"
    )
