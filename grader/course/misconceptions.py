"""Known wrong answers as data: edits of the solutions, with the words that name them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from grader.core.errors import CourseError
from grader.core.kept import kept
from grader.core.records import Mistake, MistakeKind
from grader.course.course import SOLUTIONS, Assignment, Course
from grader.course.lost_exercises import require_listed
from grader.course.toml_table import Table, did_you_mean, read_toml


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong idea: an edit of the solution's text, and how to speak of it.

    Args:
        is_alone: whether it is tried by itself only, and never together with another one.
    """

    exercise: str
    find: str
    replace: str
    mistake: Mistake
    is_alone: bool = False

    @property
    def id(self) -> str:
        """Its name, unique within the course."""
        return self.mistake.id


def all_misconceptions(course: Course) -> dict[str, tuple[Misconception, ...]]:
    """The misconceptions of each assignment, by its id.

    Raises:
        CourseError: as `read_misconceptions` does.
    """

    def make() -> bytes:
        read = {a.id: read_misconceptions(course, a) for a in course.assignments}
        return msgspec.json.encode(read)

    known = kept("misconceptions", course.raw_hash, make)
    return msgspec.json.decode(known, type=dict[str, tuple[Misconception, ...]])


def read_misconceptions(course: Course, assignment: Assignment) -> tuple[Misconception, ...]:
    """The misconceptions of an assignment; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).misconceptions
    if not path.is_file():
        return ()
    require_listed(assignment, course.paths(assignment).solution)
    problems: list[str] = []
    table = read_toml(path, problems, f"{SOLUTIONS}/{assignment.id}/")
    text = course.paths(assignment).solution.read_text("utf-8")
    found = []
    for entry in table.tables("misconceptions"):
        misconception = Misconception(
            exercise=f"{assignment.id}/{entry.text('exercise')}",
            find=entry.text("find"),
            replace=entry.anything("replace"),
            mistake=_mistake(entry),
            is_alone=entry.flag("alone", default=False),
        )
        problems += _faults(entry, misconception, assignment, text)
        found.append(misconception)
    table.forbid_duplicates("misconceptions", "id", [misconception.id for misconception in found])
    table.forbid_unknown_keys()
    if problems:
        raise CourseError(*problems)
    return tuple(found)


def _mistake(entry: Table) -> Mistake:
    kind = entry.choice("kind", tuple(MistakeKind)) or MistakeKind.SLIP
    words = entry.text("id"), entry.text("symptom"), entry.text("question")
    return Mistake(*words, MistakeKind(kind))


def _faults(
    entry: Table, misconception: Misconception, assignment: Assignment, text: str
) -> Iterator[str]:
    """What is wrong with a misconception's edit of the solution's text, or with its exercise."""
    key_path = f"{entry.file}: {entry.key_path} ({misconception.id})"
    # Also where it overlaps itself.
    count = len(re.findall(f"(?={re.escape(misconception.find)})", text))
    if misconception.find and count != 1:
        yield f"{key_path}: `find` matches {count} times in the solution; once is needed"
    if misconception.find == misconception.replace:
        yield f"{key_path}: `find` and `replace` are the same"
    names = [exercise.name for exercise in assignment.exercises]
    name = misconception.exercise.partition("/")[2]
    if name and name not in names:
        allowed = f"{did_you_mean(name, names)}allowed: {', '.join(names)}"
        yield f"{key_path}: found the exercise {name!r}; {allowed}"


def edited(text: str, *misconceptions: Misconception) -> str | None:
    """A solution's text with these mistakes in it, or None where the edits collide."""
    edits = sorted((text.find(one.find), one.find, one.replace) for one in misconceptions)
    if any(one[0] + len(one[1]) > other[0] for one, other in pairwise(edits)):
        return None
    for start, find, replacement in reversed(edits):
        text = text[:start] + replacement + text[start + len(find) :]
    return text
