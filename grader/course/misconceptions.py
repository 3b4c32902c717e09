"""Known wrong answers as data: edits of the solutions, with the words that name them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import msgspec

from grader.core.kept import kept
from grader.core.records import Mistake, MistakeKind
from grader.course.course import SOLUTIONS, Assignment, Course, no_exercise
from grader.course.lost_exercises import require_listed
from grader.course.toml_table import Text, TomlFile


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong idea: an edit of the solution's text, and how to speak of it.

    Args:
        id: its name, unique within the course.
        exercise: the id of the exercise; in the file, its short name.
        replace: what comes in the place of what is found.
        alone: whether it is tried by itself only, and never together with another one.
    """

    id: Text
    symptom: Text
    question: Text
    kind: MistakeKind
    exercise: Text
    find: Text
    replace: str
    alone: bool = False

    @property
    def mistake(self) -> Mistake:
        """It as people read of it."""
        return Mistake(self.id, self.symptom, self.question, self.kind)


Misconceptions = dict[str, tuple[Misconception, ...]]


def all_misconceptions(course: Course) -> Misconceptions:
    """The misconceptions of each assignment, by its id.

    Raises:
        CourseError: as `read_misconceptions` does.
    """

    def make() -> bytes:
        read = {a.id: read_misconceptions(course, a) for a in course.assignments}
        return msgspec.json.encode(read)

    return _decoded(kept("misconceptions", course.raw_hash, make))


@lru_cache(maxsize=1)
def _decoded(read: bytes) -> Misconceptions:
    return msgspec.json.decode(read, type=Misconceptions)


def read_misconceptions(course: Course, assignment: Assignment) -> tuple[Misconception, ...]:
    """The misconceptions of an assignment; none where it has no file of them.

    Raises:
        CourseError: with every problem found, each with its key path.
    """
    path = course.paths(assignment).misconceptions
    if not path.is_file():
        return ()
    require_listed(assignment, course.paths(assignment).solution)
    file = TomlFile(path, f"{SOLUTIONS}/{assignment.id}/")
    text = course.paths(assignment).solution.read_text("utf-8")
    found = file.read_tables("misconceptions", Misconception)
    for number, misconception in enumerate(found, 1):
        place = f"misconceptions[{number}] ({misconception.id})"
        for sentence in _faults(misconception, assignment, text):
            file.note(place, sentence)
    file.forbid_duplicates("misconceptions", "id", [misconception.id for misconception in found])
    file.finish()
    return tuple(replace(one, exercise=f"{assignment.id}/{one.exercise}") for one in found)


def _faults(misconception: Misconception, assignment: Assignment, text: str) -> Iterator[str]:
    """What is wrong with a misconception's edit of the solution's text, or with its exercise."""
    # Also where it overlaps itself.
    count = len(re.findall(f"(?={re.escape(misconception.find)})", text))
    if count != 1:
        yield f"`find` matches {count} times in the solution; once is needed"
    if misconception.find == misconception.replace:
        yield "`find` and `replace` are the same"
    if sentence := no_exercise(assignment, misconception.exercise):
        yield sentence


def edited(text: str, *misconceptions: Misconception) -> str | None:
    """A solution's text with these mistakes in it, or None where the edits collide."""
    edits = sorted((text.find(one.find), one.find, one.replace) for one in misconceptions)
    if any(one[0] + len(one[1]) > other[0] for one, other in pairwise(edits)):
        return None
    for start, find, replacement in reversed(edits):
        text = text[:start] + replacement + text[start + len(find) :]
    return text
