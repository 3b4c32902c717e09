"""What nbgrader's exchange collected, and ngshare: a folder `<student>+<assignment>+<time>` for each time."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from grader.course.course import Course
from grader.intake.attempts import Arrived, Attempt, attempts_of, place_of, stamp_of
from grader.intake.read import IntakeResult, with_roster
from grader.intake.roster import Enrolled
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.moments import Moment

FOLDER = re.compile(r"(?P<student>[^+.][^+]*)\+(?P<assignment>[^+]+)\+(?P<stamp>[^+]+)(\+[^+]*)?")
"""Whose, of what, and when."""


def read_inbound(
    course: Course, folder: Path, scratch: Callable[[], Path], enrolled: Sequence[Enrolled]
) -> IntakeResult | None:
    """The class in a folder of nbgrader's exchange, with attempts; None where it is no such.

    Args:
        course: the course.
        folder: `inbound`.
        scratch: makes a folder for what has to be put together, and returns it.
        enrolled: who is on the roster.
    """
    if not folder.is_dir():
        return None
    paths = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())
    found = [(path, match) for path in paths if (match := FOLDER.fullmatch(path.name))]
    if not any(stamp_of(match["stamp"]) for _path, match in found):  # names may have a + as well
        return None
    others = (path.name for path in paths if not FOLDER.fullmatch(path.name))
    notes = [
        f"{name} was left out: it is not named <student>+<assignment>+<time>." for name in others
    ]
    by_student: dict[str, list[Arrived]] = defaultdict(list)
    for path, match in found:
        at, id_ = stamp_of(match["stamp"]), match["assignment"]
        if id_ not in course.by_id or at is None:
            what = "time" if at is None else "assignment of this course"
            notes.append(f"{path.name} was left out: its name tells no {what}.")
        else:
            by_student[match["student"]].append(Arrived(Moment(at), path, {id_: path}))
    attempts: dict[str, tuple[Attempt, ...]] = {}
    refused: dict[str, str] = {}
    for student, arrived in by_student.items():
        try:
            attempts[student] = attempts_of(arrived, partial(place_of, scratch, student))
        except FAULTS as error:
            refused[student] = in_words(error)
    return with_roster(attempts, refused, notes, enrolled)
