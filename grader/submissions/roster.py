"""Who is enrolled: rosters of our own and of platforms, and whom a name in a download means."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError

NO_STUDENTS = ("Points Possible", "Student, Test")
"""Rows of a Canvas export that are no students."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A student as a roster or a download knows them.

    Args:
        student: what the kit calls them: the name of their folder and of their files.
        name: their full name, "" where it is unknown.
        login: what they sign in with.
        number: the platform's own number for them.
        email: their address.
        section: the platform's section.
        identifier: the word by which Moodle's grading worksheet knows them.
    """

    student: str
    name: str = ""
    login: str = ""
    number: str = ""
    email: str = ""
    section: str = ""
    identifier: str = ""


def read_roster(path: Path) -> list[Enrolled]:
    """A roster: our own with a column `student`, Canvas's export, or Moodle's grading worksheet.

    Our own may have columns `name`, `login`, `id`, `email` and `section`, too.

    Raises:
        UsageError: when it cannot be read, has none of these forms, or lists no folder's name.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"The roster {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The roster {path} is not text in UTF-8.") from error
    reader = csv.DictReader(io.StringIO(text))
    columns = list(reader.fieldnames or [])
    rows = [{key: (row.get(key) or "").strip() for key in columns} for row in reader]
    enrolled = [one for one in map(_form(path, columns), rows) if one.student]
    for one in enrolled:
        if not is_folder_name(one.student):
            raise UsageError(
                f"The roster {path} lists {one.student!r}, which cannot be a folder's name."
            )
    return enrolled


def is_folder_name(name: str) -> bool:
    """Whether a student can be called so on disk."""
    return not name.startswith(".") and name.isprintable() and not {"/", "\\"} & set(name)


def _form(path: Path, columns: list[str]) -> Callable[[Mapping[str, str]], Enrolled]:
    """How the rows of a roster with these columns are read."""
    if "student" in columns:
        return _own
    if {"Student", "ID", "Section"} <= set(columns):
        return _canvas
    if {"Identifier", "Full name"} <= set(columns):
        return _moodle
    found = ", ".join(columns) or "nothing"
    raise UsageError(f"The roster {path} has no column `student`; its first line has {found}.")


def _own(row: Mapping[str, str]) -> Enrolled:
    name, login, number, email, section = (
        row.get(key, "") for key in ("name", "login", "id", "email", "section")
    )
    return Enrolled(row["student"], name, login, number, email, section)


def _canvas(row: Mapping[str, str]) -> Enrolled:
    login = row.get("SIS Login ID", "")
    is_student = row["ID"] and row["Student"] not in NO_STUDENTS
    return Enrolled(
        student=(login or row["ID"]) if is_student else "",
        name=row["Student"],
        login=login,
        number=row["ID"],
        section=row["Section"],
    )


def _moodle(row: Mapping[str, str]) -> Enrolled:
    number = "".join(re.findall(r"[0-9]+$", row["Identifier"]))
    login = row.get("Username", "")
    email = row.get("Email address", "")
    return Enrolled(
        student=login or row.get("ID number", "") or email or number,
        name=row["Full name"],
        login=login,
        number=number,
        email=email,
        identifier=row["Identifier"],
    )


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
