"""Students as numbers, for research and reports of bugs; a key file says who is who."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import table, write_whole
from grader.core.text import clean
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled
from grader.intake.tables import read_text, table_of

COLUMNS = ("number", "student", "name", "login", "email")
PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,19}")
"""What may stand for a name."""
LEAST = 1000
"""The first number: all of a class of up to a few hundred have as many digits."""
TUTOR = "tutor "
"""What stands before a tutor's name in the key file."""


def read_keys(path: Path) -> dict[str, tuple[str, ...]]:
    """The rows of a key file, by student; none where there is no such file yet.

    Raises:
        UsageError: when it is no key file.
    """
    if not path.exists():
        return {}
    columns, found = table_of(read_text(path, "key file"), path, "key file")
    if not {"number", "student"} <= {*columns}:
        raise UsageError(f"{path} is no key file: its first line is not {','.join(COLUMNS)}.")
    rows = [tuple(row.get(name, "") for name in COLUMNS) for row in found]
    for row in rows:
        if not PLAIN.fullmatch(row[0]):  # files are called so
            raise UsageError(
                f"The key file {path} has {clean(row[0], 80)!r} as a number. Write up to 20 digits, "
                "letters and hyphens."
            )
    for position, what in enumerate(COLUMNS[:2]):
        if len({row[position] for row in rows}) < len(rows):
            raise UsageError(f"The key file {path} has one {what} twice. Which of them holds?")
    return {row[1]: row for row in rows}


def numbers_of(path: Path, students: Iterable[Enrolled]) -> dict[str, str]:
    """Each student's number, from the key file; who is new gets one, and is written down there.

    Args:
        path: the key file.
        students: everybody.

    Raises:
        UsageError: when the key file cannot be read or written.
    """
    rows = read_keys(path)
    new = [one for one in students if one.student not in rows]
    taken = {row[0] for row in rows.values()}
    free = [str(n) for n in range(LEAST, LEAST + 10 * (len(rows) + len(new) + 100))]
    free = [number for number in free if number not in taken]
    # In no order that would say whose they are.
    drawn = secrets.SystemRandom().sample(free, len(new))
    for one, number in zip(new, drawn, strict=True):
        rows[one.student] = (number, one.student, one.name, one.login, one.email)
    if new:
        ordered = sorted(rows.values(), key=lambda row: int(row[0]) if row[0].isdigit() else 0)
        write_whole(path, table([COLUMNS, *ordered], is_exact=True))
    return {student: row[0] for student, row in rows.items()}


def anonymous(intake: IntakeResult, path: Path) -> tuple[IntakeResult, dict[str, str]]:
    """A class whose students and tutors are numbers; of the roster sections and labels stay.

    Args:
        intake: the class.
        path: the key file.

    Raises:
        UsageError: when the key file cannot be read or written.
    """
    everybody = [intake.roster.get(one.id, Enrolled(one.id)) for one in intake.students]
    tutors = dict.fromkeys(one.tutor for one in intake.roster.values() if one.tutor)
    numbers = numbers_of(path, [*everybody, *(Enrolled(TUTOR + name) for name in tutors)])
    students = sorted(
        (replace(one, id=numbers[one.id]) for one in intake.students), key=lambda one: one.id
    )
    roster = {
        numbers[id_]: Enrolled(
            numbers[id_],
            section=one.section,
            tags=one.tags,
            tutor=numbers[TUTOR + one.tutor] if one.tutor else "",
        )
        for id_, one in intake.roster.items()
        if id_ in numbers
    }
    return replace(intake, students=students, roster=roster), numbers
