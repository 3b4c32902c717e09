"""Lists and tables that people and platforms write, read with what is wrong in a sentence."""

import csv
import io
from pathlib import Path

from grader.core.errors import UsageError

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
DELIMITERS = (",", ";", "\t")

Rows = list[dict[str, str]]


def read_text(path: Path, what: str) -> str:
    """A file's text in UTF-8, or in UTF-16 with its mark.

    Args:
        path: the file.
        what: it is, like "roster".

    Raises:
        UsageError: when it cannot be read, or is no such text.
    """
    try:
        data = path.read_bytes()
        return data.decode("utf-16" if data[:2] in UTF_16 else "utf-8-sig")
    except OSError as error:
        raise UsageError(f"The {what} {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The {what} {path} is not text in UTF-8.") from error


def table_of(text: str, path: Path, what: str) -> tuple[list[str], Rows]:
    """The columns and rows of a CSV, by commas, semicolons or tabs, as Excel writes them.

    Args:
        text: its text.
        path: where it is from.
        what: it is.

    Raises:
        UsageError: when it is no CSV.
    """
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep="):  # Excel's own first line
        text = rest
    text = text.lstrip("\n")
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        columns = [column.strip() for column in reader.fieldnames or []]
        reader.fieldnames = columns
        return columns, [{key: (row.get(key) or "").strip() for key in columns} for row in reader]
    except csv.Error as error:
        raise UsageError(
            f"The {what} {path} cannot be read after line {reader.line_num} ({error}). Is a quotation "
            "mark missing there?"
        ) from error
