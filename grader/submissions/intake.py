"""A class however it arrives: a folder, repositories side by side, or one zip of a platform.

What has to be copied or unpacked lies in a folder that is gone afterwards.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader.core.errors import UsageError
from grader.course.course import Course
from grader.submissions.platform_zips import Hand, hands_of, innermost, lay_out, ungraded
from grader.submissions.repositories import repositories
from grader.submissions.roster import Enrolled, find_enrolled, read_roster
from grader.submissions.safe_zip import CLASS_CAPS, unpack
from grader.submissions.student_folders import Student, read_class

MAX_NAME = 80
MARKED_LATE = (
    "the platform marks this as late; it does not say by how much, so nothing is taken off."
)
NOTHING_TO_GRADE = "nothing to grade was handed in; {file} is no .py, no .ipynb and no .zip."


@dataclass(frozen=True, slots=True)
class Arrived:
    """A class ready to be graded.

    Args:
        students: who, and where their work lies.
        roster: what is known of them besides, by the kit's name for them.
        notes: what the instructor should know: who could not be placed, what was left out.
    """

    students: list[Student]
    roster: dict[str, Enrolled] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@contextmanager
def arrive(course: Course, submissions: Path, roster: Path | None = None) -> Iterator[Arrived]:
    """Read a class; unpacked and copied files are removed at the end.

    Raises:
        UsageError: when there is nothing to grade, or the archive or the roster cannot be read.
    """
    enrolled = read_roster(roster) if roster is not None else []
    with ExitStack() as stack:

        @cache  # made only where something is unpacked or copied
        def place() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="grader-class-")))

        arrived: Arrived | None
        if submissions.is_file() and submissions.suffix.lower() == ".zip":
            arrived = _from_archive(course, submissions, place(), enrolled)
        else:
            arrived = _from_repositories(course, submissions, place, enrolled)
        if arrived is None:
            students = read_class(submissions, roster, course.by_id)
            known = {one.student: one for one in enrolled}
            strangers = [s.id for s in students if enrolled and s.id not in known]
            notes = tuple(f"{name} is not on the roster." for name in strangers)
            arrived = Arrived(students, known, notes)
        yield arrived


def _from_archive(
    course: Course, archive: Path, place: Path, roster: Sequence[Enrolled]
) -> Arrived:
    download = place / "download"
    unpacked = unpack(archive, download, CLASS_CAPS)
    root = innermost(course, download)
    hands, strangers = hands_of(course, root, archive.stem)
    by_student, known, unplaced = placed(hands, roster)
    notes = [f"Left out: {problem}." for problem in unpacked.problems]
    notes += [f"Left out: {name!r} belongs to no student." for name in strangers]
    notes += [f"{hand.name}: {MARKED_LATE}" for hand in hands if hand.is_late]
    for hand in ungraded(root, [download / path for path in unpacked.others], hands):
        notes.append(f"{hand.name}: {NOTHING_TO_GRADE.format(file=hand.files[0][1].name)}")
    for student, hand in by_student.items():
        problems = lay_out(course, hand, place / "class" / student)
        notes += [f"{student}: {problem}." for problem in problems]
    if not by_student:
        raise UsageError(f"{archive} holds no .py, no .ipynb and no .zip of a student.")
    found = {student: place / "class" / student for student in by_student}
    everybody = {one.student: one for one in roster} | known
    return Arrived(_students(found, everybody), everybody, (*unplaced, *notes))


def _from_repositories(
    course: Course, submissions: Path, place: Callable[[], Path], roster: Sequence[Enrolled]
) -> Arrived | None:
    found = repositories(course, submissions, place, roster)
    if found is None:
        return None
    everybody = {one.student: one for one in roster}
    return Arrived(_students(found.work, everybody), everybody, found.notes)


def _students(found: Mapping[str, Path], enrolled: Mapping[str, Enrolled]) -> list[Student]:
    """Who handed in something and who is enrolled, by name."""
    return [Student(name, found.get(name)) for name in sorted({*found, *enrolled})]


# Whom work belongs to.


def placed(
    hands: Sequence[Hand], roster: Sequence[Enrolled]
) -> tuple[dict[str, Hand], dict[str, Enrolled], list[str]]:
    """Hands by student, what is known of each, and who could not be placed on the roster."""
    found = [find_enrolled(roster, hand.name, hand.number) for hand in hands]
    claims = Counter(one[0].student for one in found if len(one) == 1)
    names = Counter(hand.name for hand in hands)
    by_student: dict[str, Hand] = {}
    known: dict[str, Enrolled] = {}
    notes = []
    for hand, candidates in zip(hands, found, strict=True):
        if len(candidates) == 1 and claims[candidates[0].student] == 1:
            student, known[candidates[0].student] = candidates[0].student, candidates[0]
        else:
            alone = names[hand.name] == 1 and not roster
            student = _own_name(hand, alone=alone, taken=by_student)
            known[student] = Enrolled(student, name=hand.name, number=hand.number)
            notes += _not_placed(hand, candidates, student) if roster else []
        by_student[student] = hand
    return by_student, known, notes


def _own_name(hand: Hand, *, alone: bool, taken: Mapping[str, Hand]) -> str:
    """A name on disk for somebody whom no roster names."""
    name = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in hand.name)
    name = name.strip(" .")[:MAX_NAME] or "unnamed"
    student = name if alone or not hand.number else f"{name}_{hand.number}"
    others = 1
    while student in taken:
        others += 1
        student = f"{name}_{others}"
    return student


def _not_placed(hand: Hand, candidates: Sequence[Enrolled], student: str) -> list[str]:
    who = f"{hand.name} ({hand.number})" if hand.number else hand.name
    if not candidates:
        reason = "nobody on the roster has this name or number"
    elif len(candidates) > 1:
        listed = ", ".join(one.student for one in candidates)
        reason = f"the roster has several whom it may mean: {listed}"
    else:
        reason = f"somebody else is taken for {candidates[0].student}, too"
    return [f"{who} could not be placed: {reason}. Graded as {student}."]
