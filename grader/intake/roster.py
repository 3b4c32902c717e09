"""Who is enrolled: rosters of our own and of platforms, and whom a name in a download means."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.intake.tables import read_text, table_of

NO_STUDENTS = ("Points Possible", "Student, Test")
"""Rows of a Canvas export that are no students."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A student as a roster or a download knows them.

    Args:
        student: what the kit calls them: the name of their folder and of their files.
        login: what they sign in with.
        number: the platform's own number for them.
        section: the platform's section.
        identifier: the word by which Moodle's grading worksheet knows them.
        sis_number: the number that a school's own system gave them, which Canvas knows as well.
        tags: further words for groups that they belong to.
        modified: when they handed in, as Moodle's grading worksheet writes it.
        tutor: the person who teaches or grades them.
        upload: what a platform's names of their files began with; "" where there was no download.
    """

    student: str
    name: str = ""
    login: str = ""
    number: str = ""
    email: str = ""
    section: str = ""
    identifier: str = ""
    sis_number: str = ""
    tags: tuple[str, ...] = ()
    modified: str = ""
    tutor: str = ""
    upload: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """What groups of students are called to which they belong: the section, and the tags."""
        return tuple(filter(None, (self.section, *self.tags)))


def read_roster(path: Path) -> list[Enrolled]:
    """A roster: our own with a column `student`, Canvas's export, or Moodle's grading worksheet.

    Our own may have columns `name`, `login`, `id`, `email`, `section`, `tutor` (or `grader`) and
    `labels`, too, the last with `|` between several. Columns are separated by commas, semicolons or tabs, as Excel writes
    them.

    Raises:
        UsageError: when it cannot be read, has none of these forms, lists no folder's name, or
            somebody twice.
    """
    columns, rows = table_of(read_text(path, "roster"), path, "roster")
    form = next((read for needed, read in FORMS.items() if {*needed} <= {*columns}), None)
    if form is None and "student" in map(str.lower, columns):
        rows = [{column.lower(): cell for column, cell in row.items()} for row in rows]
        form = _own
    if form is None:
        found = ", ".join(columns) or "nothing"
        raise UsageError(f"The roster {path} has no column `student`; its first line has {found}.")
    enrolled = [one for one in map(form, rows) if one.student]
    for name, count in Counter(one.student for one in enrolled).items():
        if count > 1:
            raise UsageError(f"The roster {path} lists {name} {count} times. Keep one row of them.")
    for one in enrolled:
        if not is_folder_name(one.student):
            raise UsageError(
                f"The roster {path} lists {one.student!r}, which cannot be a folder's name."
            )
    return enrolled


def is_folder_name(name: str) -> bool:
    """Whether a student can be called so on disk."""
    return not name.startswith(".") and name.isprintable() and not {"/", "\\"} & set(name)


def _own(row: Mapping[str, str]) -> Enrolled:
    columns = ("student", "name", "login", "id", "email", "section")
    tags = tuple(tag.strip() for tag in row.get("labels", "").split("|") if tag.strip())
    student, name, login, number, email, section = (row.get(column, "") for column in columns)
    tutor = row.get("tutor") or row.get("grader", "")
    return Enrolled(student, name, login, number, email, section, tags=tags, tutor=tutor)


def _canvas(row: Mapping[str, str]) -> Enrolled:
    name, number, login = row["Student"], row["ID"], row.get("SIS Login ID", "")
    student = (login or number) if number and name not in NO_STUDENTS else ""
    sis = row.get("SIS User ID", "")
    return Enrolled(student, name, login, number, section=row["Section"], sis_number=sis)


def _moodle(row: Mapping[str, str]) -> Enrolled:
    identifier = row["Identifier"]
    number = "".join(re.findall(r"[0-9]+$", identifier))
    login, own, email = (row.get(c, "") for c in ("Username", "ID number", "Email address"))
    student = login or own or email or number
    modified = row.get("Last modified (submission)", "")
    known = (student, row["Full name"], login, number, email)
    return Enrolled(*known, identifier=identifier, modified=modified)


FORMS = {
    ("Student", "ID", "Section"): _canvas,
    ("Identifier", "Full name"): _moodle,
}
"""How the rows of a platform's roster with these columns are read."""


# Whom a name means.


def find_enrolled(roster: Iterable[Enrolled], name: str, number: str = "") -> list[Enrolled]:
    """The enrolled students whom a download may mean: by number, else by login, else by name.

    Args:
        roster: who is enrolled.
        name: as the download writes it.
        number: the platform's number, "" where there is none.
    """
    listed = list(roster)
    by_number = [one for one in listed if number and one.number == number]
    if by_number:
        return by_number
    # A number that is known for somebody else's namesake speaks against them.
    possible = [one for one in listed if not (number and one.number)]
    wanted = plain(name)
    by_login = [one for one in possible if wanted in (plain(one.login), plain(one.student))]
    return by_login or [one for one in possible if wanted in spellings(one.name)]


def spellings(name: str) -> set[str]:
    """A name as downloads write it: in any rotation of its words, letters and digits only."""
    words = [plain(word) for word in re.split(r"[\s,]+", name) if plain(word)]
    return {"".join(words[first:] + words[:first]) for first in range(len(words))}


def plain(text: str) -> str:
    """Letters and digits alone, in lower case."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
