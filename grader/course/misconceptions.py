"""Known wrong answers as data: edits of the solutions, with the words that name them."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from grader.core.errors import CourseError
from grader.core.records import Mistake
from grader.course.course import Assignment, Course
from grader.course.toml_table import Table, read_toml


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong idea: an edit of the solution's text, and how to speak of it."""

    exercise: str
    find: str
    replace: str
    mistake: Mistake

    @property
    def id(self) -> str:
        """Its name, unique within the course."""
        return self.mistake.id


def read_misconceptions(course: Course, assignment: Assignment) -> tuple[Misconception, ...]:
    """The misconceptions of an assignment; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).misconceptions
    if not path.is_file():
        return ()
    problems: list[str] = []
    table = read_toml(path, problems, f"{assignment.id}/")
    text = course.paths(assignment).solution.read_text("utf-8")
    found = []
    for entry in table.tables("misconceptions"):
        misconception = _misconception(assignment, entry)
        problems += _faults(entry, misconception, assignment, text)
        found.append(misconception)
    table.forbid_duplicates("misconceptions", "id", [misconception.id for misconception in found])
    table.forbid_unknown_keys()
    if problems:
        raise CourseError(*problems)
    return tuple(found)


def _misconception(assignment: Assignment, entry: Table) -> Misconception:
    return Misconception(
        exercise=f"{assignment.id}/{entry.text('exercise')}",
        find=entry.text("find"),
        replace=entry.anything("replace"),
        mistake=Mistake(entry.text("id"), entry.text("symptom"), entry.text("question")),
    )


def _faults(
    entry: Table, misconception: Misconception, assignment: Assignment, text: str
) -> Iterator[str]:
    """What is wrong with a misconception's edit of the solution's text, or with its exercise."""
    key_path = f"{entry.file}: {entry.key_path} ({misconception.id})"
    count = _count(text, misconception.find)
    if misconception.find and count != 1:
        yield f"{key_path}: `find` matches {count} times in the solution; once is needed"
    if misconception.find == misconception.replace:
        yield f"{key_path}: `find` and `replace` are the same"
    names = [exercise.name for exercise in assignment.exercises]
    name = misconception.exercise.partition("/")[2]
    if name and name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        yield f"{key_path}: found the exercise {name!r}{hint} allowed: {', '.join(names)}"


def _count(text: str, part: str) -> int:
    """How often a part stands in a text, also where it overlaps itself; 0 for an empty part."""
    return len(re.findall(f"(?={re.escape(part)})", text)) if part else 0


def edited(text: str, *misconceptions: Misconception) -> str | None:
    """A solution's text with these mistakes in it, or None where the edits collide."""
    spans = []
    for misconception in misconceptions:
        start = text.find(misconception.find)
        spans.append((start, start + len(misconception.find), misconception.replace))
    spans.sort()
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        return None
    for start, end, replacement in reversed(spans):
        text = text[:start] + replacement + text[end:]
    return text
