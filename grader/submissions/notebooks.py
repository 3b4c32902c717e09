"""Reads untrusted notebooks as plain JSON; nothing in them is run or trusted."""

import gc
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grader.core.encodings import Decoded, decoded
from grader.core.errors import SubmissionError
from grader.core.language import _, listed

MAX_BYTES = 64 * 2**20
MOST_PARTS = 4_000_000
"""The values in a notebook's JSON: figures of 64 MiB have fewer."""
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
MAX_CELLS = 5_000
MAX_CODE_CHARACTERS = 2**19
IMPORTS_CELL = "own_assignments"
"""The name of the generated cell that finds the assignments a notebook builds on, in a kernel."""
EXPERIMENT, PREDICTION = "experiment", "prediction"
"""The tags of cells that only look at what other cells define, or ask what they will do."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number as Jupyter counts cells (from 1), None for a `.py` file's text."""

    number: int | None
    text: str


class NoTextError(SubmissionError):
    """A file is text in no encoding that is read."""


def no_text(encodings: Sequence[str]) -> NoTextError:
    """That a file is no text, and what to do.

    Args:
        encodings: those that were tried besides UTF-8.
    """
    sentence = _("it is not text in {encodings}; open it, and save it again as UTF-8")
    names = listed(name.upper() for name in ("utf-8", *encodings))
    return NoTextError(sentence.format(encodings=names))


def notebook_text(data: bytes, encodings: Sequence[str] = ()) -> Decoded:
    """The JSON of a notebook.

    Args:
        data: the file.
        encodings: those to try where it is not in UTF-8.

    Raises:
        SubmissionError: when it is too large; a NoTextError when it is text in no encoding.
    """
    if len(data) > MAX_BYTES:
        sentence = _("it has {size} bytes; at most {most} are read")
        raise SubmissionError(sentence.format(size=len(data), most=MAX_BYTES))
    if _parts(data) > MOST_PARTS:
        sentence = _("its JSON has more than {most} values")
        raise SubmissionError(sentence.format(most=MOST_PARTS))
    found = decoded(data, encodings, has_coding_line=False)
    if found is None:
        raise no_text(encodings)
    return found


def code_cells(text: str) -> tuple[Cell, ...]:
    """The code cells of a notebook, without the generated cells that only a kernel runs.

    Raises:
        SubmissionError: when it is not a notebook, saying why.
    """
    cells = cells_of(text)
    code = tuple(
        Cell(number, text_of(cell))
        for number, cell in enumerate(cells, 1)
        if isinstance(cell, dict)
        and cell.get("cell_type") == "code"
        and not is_generated_cell(cell)
    )
    size = sum(len(cell.text) for cell in code)
    if size > MAX_CODE_CHARACTERS:
        sentence = _("it has {size} characters of code; {most} are read")
        raise SubmissionError(sentence.format(size=size, most=MAX_CODE_CHARACTERS))
    return code


def cells_of(text: str) -> list[Any]:
    """The cells of a notebook, of every kind, as whatever JSON holds.

    Raises:
        SubmissionError: when it is not a notebook, saying why.
    """
    cells = _cells(_content(text))
    if len(cells) > MAX_CELLS:
        sentence = _("it has {size} cells; at most {most} are read")
        raise SubmissionError(sentence.format(size=len(cells), most=MAX_CELLS))
    return cells


def _content(text: str) -> dict[str, Any]:
    try:
        with _without_collection():
            content = json.loads(text)
    except json.JSONDecodeError as error:
        sentence = _("its JSON is damaged at line {line}, column {column}")
        sentence = sentence.format(line=error.lineno, column=error.colno)
        raise SubmissionError(sentence) from error
    except (ValueError, RecursionError) as error:
        raise SubmissionError(_("it is not JSON")) from error
    if not isinstance(content, dict):
        raise SubmissionError(_("its JSON is not a notebook"))
    return content


def _parts(data: bytes) -> int:
    """About how many values JSON holds: commas and opening brackets, but for those within texts."""
    most = sum(map(data.count, (b",", b"[", b"{")))
    return most if most <= MOST_PARTS else sum(map(TEXT.sub(b"", data).count, (b",", b"[", b"{")))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: among millions of new lists that takes longer than all else."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _cells(content: dict[str, Any]) -> list[Any]:
    cells = content.get("cells")
    if cells is None:  # the layout before 2015: worksheets
        sheets = content.get("worksheets")
        sheet = sheets[0] if isinstance(sheets, list) and sheets else None
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
    if not isinstance(cells, list):
        raise SubmissionError(_("its JSON has no list of cells, so it is not a notebook"))
    return cells


def text_of(cell: dict[str, Any]) -> str:
    """A cell's text, "" where it has none."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def is_generated_cell(cell: dict[str, Any]) -> bool:
    """Whether its metadata says that this cell only runs checks, finds earlier work, or looks on."""
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and (EXPERIMENT in tags or PREDICTION in tags):
        return True
    marks = nbgrader_marks(cell)
    if marks.get("solution"):
        return False
    return marks.get("grade") is True or marks.get("grade_id") == IMPORTS_CELL


def nbgrader_marks(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell's metadata of nbgrader's; empty where there is none."""
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return marks if isinstance(marks, dict) else {}


WOULD = ": nbgrader would "
"""Stands in each sentence on what nbgrader would stumble over, before what it would do."""


def is_defect(note: str) -> bool:
    """Whether a note is such a sentence."""
    return WOULD in note


def defects(handed_in: bytes, released: bytes) -> tuple[str, ...]:
    """What nbgrader would stumble over, in sentences; nothing for what is no notebook at all.

    Args:
        handed_in: the student's file.
        released: the notebook as the course hands it out.
    """
    try:
        (found, texts), (wanted, tests) = _marked(handed_in), _marked(released)
    except SubmissionError:
        return ()
    if wanted and not found:
        return (
            "it has lost nbgrader's marks on its cells: nbgrader would leave every score to be given "
            "by hand",
        )
    doubled = [name for name in wanted if found[name] > 1]
    gone = [name for name in wanted if not found[name]]
    gone_tests = [name for name in gone if name in tests]
    own = [name for name in gone if name not in tests]
    edited = [name for name, text in tests.items() if texts.get(name, text) != text]
    found_in = (
        (
            doubled,
            ("stands more than once", "stand more than once"),
            "stop here, for the whole class",
        ),
        (gone_tests, ("is missing", "are missing"), "leave the score to be given by hand"),
        (own, ("is missing", "are missing"), "show no comment there"),
        (edited, ("was changed", "were changed"), "put its own back"),
    )
    return tuple(
        f"the cell{'s' * (len(names) > 1)} {', '.join(names)} {fault[len(names) > 1]}: nbgrader would "
        f"{consequence}"
        for names, fault, consequence in found_in
        if names
    )


def _marked(data: bytes) -> tuple[Counter[str], dict[str, str]]:
    """How often each name that nbgrader gave stands in a notebook, and each test cell's text."""
    found = (c for c in cells_of(notebook_text(data).text) if isinstance(c, dict))
    cells = [(nbgrader_marks(cell), text_of(cell).strip()) for cell in found]
    named = [(m["grade_id"], m, text) for m, text in cells if isinstance(m.get("grade_id"), str)]
    tests = {n: text for n, m, text in named if m.get("grade") is True and not m.get("solution")}
    return Counter(name for name, *_ in named), tests
