"""Files as they are written, whole or not at all; and tables as spreadsheets read them."""

import csv
import errno
import hashlib
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.language import _
from grader.core.text import escaped


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write.

    Args:
        path: where, with `/`: inside a folder that is given later, or absolute.
        content: bytes, or text to be written in UTF-8; None removes what is there.
        append: whether it is added to what is there (GitHub's own files work so).
    """

    path: str
    content: bytes | str | None
    append: bool = False

    @property
    def data(self) -> bytes:
        """The content as bytes."""
        return _encoded(self.content or b"")

    @property
    def text(self) -> str:
        """The content as text; what is not UTF-8 in it is replaced by a sign."""
        return self.data.decode("utf-8", "replace")

    def is_current(self, folder: Path) -> bool:
        """Whether the file in a folder has this content, to the byte."""
        path = folder / self.path
        return path.is_file() and path.read_bytes() == self.data

    def write(self, folder: Path) -> None:
        """Write the file into a folder, as its arguments say."""
        path = folder / self.path
        if self.content is None:
            path.unlink(missing_ok=True)
        elif self.append:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as end:
                end.write(self.data)
        else:
            write_whole(path, self.data)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all; what a killed run left of it is overwritten.

    Raises:
        UsageError: when it cannot be written; the file is then as it was.
    """
    temporary = path.with_name(f".{path.name}.part")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(_encoded(content))
            temporary.replace(path)
        except OSError:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_all(files: Sequence[OutputFile], folder: Path) -> None:
    """Write several files into a folder, or leave all of them as they were.

    Raises:
        UsageError: when one cannot be written.
    """
    paths = {file.path: folder / file.path for file in files}
    before = {inner: p.read_bytes() if p.is_file() else None for inner, p in paths.items()}
    folders = {f for p in paths.values() for f in p.parents if not f.exists()}
    try:
        for file in files:
            file.write(folder)
    except BaseException:
        for inner, content in before.items():
            with suppress(UsageError, OSError):
                OutputFile(inner, content).write(folder)
        for empty in sorted(folders, reverse=True):
            with suppress(OSError):
                empty.rmdir()
        raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say which file it is about when the system refuses to write, and what to do.

    Raises:
        UsageError: in place of the system's own error.
    """
    try:
        yield
    except OSError as error:
        advice = _("Choose a folder that you may write to.")
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
            advice = _("Make room, and run the same command again: what is written is kept.")
        sentence = _("{path} cannot be written: {reason}. {advice}")
        reason = error.strerror or type(error).__name__
        raise UsageError(sentence.format(path=path, reason=reason, advice=advice)) from error


def _encoded(content: bytes | str) -> bytes:
    """Text in UTF-8; halves of characters, for which there are no bytes, are escaped."""
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


MOST_NAME = 180
"""The bytes of a file's name that a student's may fill: systems allow 255, and endings come to it."""
SHORTENED = re.compile(r"~[0-9a-f]{16}")


def file_name(student: str) -> str:
    """A student's name as files are called: the same where it fits, else the beginning and a hash."""
    data = student.encode("utf-8", "surrogatepass")
    # Nobody is called like somebody else's shortened name.
    if len(data) <= MOST_NAME and not is_shortened(student):
        return student
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"{data[: MOST_NAME - 17].decode('utf-8', 'ignore')}~{digest}"


def is_shortened(name: str) -> bool:
    """Whether a file's name may be the shortened one of a student."""
    return SHORTENED.fullmatch(name[-17:]) is not None


NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?|.?")
"""What is no formula, whatever it begins with; Moodle wants a hyphen in one column."""


def safe(text: str) -> str:
    """A text that no spreadsheet reads as a formula, and that does nothing to a terminal.

    Spreadsheets pass over space before a formula, and read the wide signs of East Asia, too.
    """
    text = escaped(text)
    begins = next((c for c in text if c.isprintable() and not c.isspace()), "")
    begins = unicodedata.normalize("NFKC", begins)
    is_formula = begins in ("=", "+", "-", "@") and not NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def table(rows: Iterable[Sequence[object]], *, is_exact: bool = False) -> str:
    """Rows as CSV.

    Args:
        rows: whose texts are made safe.
        is_exact: whether they are left as they are, because a program reads them again.
    """
    text = io.StringIO()
    shown = (
        row if is_exact else [safe(cell) if isinstance(cell, str) else cell for cell in row]
        for row in rows
    )
    csv.writer(text, lineterminator="\n").writerows(shown)
    return text.getvalue()
