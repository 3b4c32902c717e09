"""Files of translations, read and written: gettext's `.po` for people, `.mo` for programs."""

import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

from grader.core.errors import CourseError
from grader.course.check_helpers import hidden_helpers
from grader.course.course import Course


class SteadyCatalog(Catalog):
    """Translations whose header has neither dates nor versions: only texts make it differ."""

    def __iter__(self) -> Iterator[Entry]:
        """The header, and the messages."""
        lines = (
            f"Language: {self.locale_identifier}",
            "MIME-Version: 1.0",
            f"Content-Type: text/plain; charset={self.charset}",
            "Content-Transfer-Encoding: 8bit",
            f"Plural-Forms: {self.plural_forms}",
            "",
        )
        yield Entry("", "\n".join(lines))
        yield from (entry for entry in super().__iter__() if entry.id)


def domain_folder(folder: Path, code: str) -> Path:
    """Where a language's files are."""
    return folder / code / "LC_MESSAGES"


def read_translations(path: Path, code: str) -> Catalog:
    """A file of translations; an empty one where there is none.

    Raises:
        CourseError: when it is damaged.
    """
    if not path.is_file():
        return Catalog(locale=code)
    try:
        with path.open("rb") as file:
            return read_po(file, locale=code, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise CourseError(f"{path.name} ({code}): it cannot be read: {error}") from error


def po_bytes(catalog: Catalog) -> bytes:
    """Translations as people edit them; without line numbers, which change too often."""
    stream = io.BytesIO()
    write_po(stream, catalog, width=100, include_lineno=False)
    return stream.getvalue()


def mo_bytes(catalog: Catalog) -> bytes:
    """Translations as gettext reads them; what is not translated or not sure is left out."""
    stream = io.BytesIO()
    write_mo(stream, catalog)
    return stream.getvalue()


def released_translations(course: Course, code: str) -> bytes:
    """A course's compiled translations without what only hidden checks say."""
    whole = read_translations(domain_folder(course.translations, code) / "course.po", code)
    files = [course.paths(assignment).hidden_checks for assignment in course.assignments]
    hidden = {course.inner(path) for path in (*files, *hidden_helpers(course))}
    part = SteadyCatalog(locale=code)
    for message in whole:
        if message.id and {file for file, _line in message.locations} - hidden:
            part.add(message.id, message.string)
    return mo_bytes(part)
