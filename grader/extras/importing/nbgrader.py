"""What a notebook of another grader is read into, and the reader of nbgrader's format.

Written after the metadata's schema, version 3; the versions before it have the same keys. Metadata says
what each cell is, markers what is in it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.core.errors import SubmissionError, UsageError
from grader.submissions.notebooks import cells_of, nbgrader_marks, notebook_text, text_of

HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
MAGIC = re.compile(r"^\s*[%!]")


@dataclass(frozen=True, slots=True)
class SourceCell:
    """A cell as it stands in the notebook.

    Args:
        number: counted from 1.
        kind: "markdown", "code" or "raw".
        text: its content.
        output: what it printed and showed when it was run last.
        marks: nbgrader's metadata.
        has_attachments: whether pictures are stored in it.
    """

    number: int
    kind: str
    text: str
    output: str = ""
    marks: dict[str, Any] = field(default_factory=dict)
    has_attachments: bool = False


@dataclass(slots=True)
class Notes:
    """What could not be carried over: sentences, each with its cell."""

    entries: list[tuple[int, str]] = field(default_factory=list)

    def add(self, cell: int, *sentences: str) -> None:
        """Add sentences about a cell."""
        self.entries += [(cell, sentence) for sentence in sentences]

    def parsed(self, cell: int, text: str) -> ast.Module | None:
        """A cell's code; None, with a note, where it is no Python."""
        try:
            return ast.parse(text)
        except SyntaxError as error:
            reason = f"{error.msg} (line {error.lineno})"
            self.add(cell, f"the code is left out, because it is no Python: {reason}")
            return None

    def lines(self) -> list[str]:
        """The sentences after their cells, in order; one sentence twice says nothing more."""
        entries = sorted(dict.fromkeys(self.entries), key=lambda entry: entry[0])
        return [f"cell {cell}: {sentence}" for cell, sentence in entries]


@dataclass(frozen=True, slots=True)
class Text:
    """A cell that students receive as it is: "markdown", or "code" that is given."""

    cell: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class MarkedCode:
    """A cell's code, and the numbers of the lines (from 1) that only the solution has."""

    cell: int
    text: str
    solution: frozenset[int]


@dataclass(frozen=True, slots=True)
class Case:
    """One test.

    Args:
        cell: where it stands.
        text: its code.
        is_hidden: whether students do not receive it.
        points: what it is worth.
        output: what its last line shows, where that is part of the test.
    """

    cell: int
    text: str
    is_hidden: bool = False
    points: Fraction = Fraction(0)
    output: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What students write, and its tests.

    Args:
        cell: where it begins.
        code: the cells of its solution.
        cases: its tests.
        points: what it is worth where it has no tests.
    """

    cell: int
    code: tuple[MarkedCode, ...]
    cases: tuple[Case, ...] = ()
    points: Fraction = Fraction(0)


@dataclass(slots=True)
class Reading:
    """A notebook as far as it is read; each format has its own `take`.

    Args:
        path: the notebook.
        parts: what was read, in order.
        notes: what could not be carried over.
        files: the files beside it that students are given, as it says itself.
    """

    path: Path
    parts: list[Text | Question] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    files: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its first heading, "" where it has none."""
        texts = (p.text for p in self.parts if isinstance(p, Text) and p.kind == "markdown")
        return next((match[1] for text in texts if (match := HEADING.search(text))), "")

    def add_text(self, cell: SourceCell, text: str | None = None) -> None:
        """Add a cell that students receive as it is, or as the text says."""
        text = (cell.text if text is None else text).strip("\n")
        if cell.has_attachments:
            stored = "a picture is stored in the cell; put it beside the notebook"
            self.notes.add(cell.number, stored)
        if cell.kind == "code":
            text = self.without_magics(cell.number, text)
        if text.strip():
            self.parts.append(Text(cell.number, cell.kind, text))

    def without_magics(self, cell: int, text: str) -> str:
        """Code without the lines that only IPython understands, each of which is noted."""
        lines = text.split("\n")
        for line in filter(MAGIC.match, lines):
            self.notes.add(cell, f"`{line.strip()}` is no Python; it is left out")
        return "\n".join(line for line in lines if not MAGIC.match(line))

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        raise NotImplementedError

    def read(self) -> None:
        """Read all cells.

        Raises:
            UsageError: when it cannot be read as a notebook, or not in this format.
        """
        for cell in _cells(self.path):
            self.take(cell)

    @property
    def has_questions(self) -> bool:
        """Whether there is something to write in it."""
        return any(isinstance(part, Question) for part in self.parts)

    def fault(self, cell: int, sentence: str) -> UsageError:
        """What is wrong with a cell."""
        return UsageError(f"{self.path}: cell {cell}: {sentence}.")

    def points(self, cell: int, value: Any) -> Fraction:
        """A number of points as it stands in a cell.

        Raises:
            UsageError: when it is none.
        """
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            raise self.fault(cell, f"`points` is {value!r}; a number of points is needed")
        return Fraction(str(value))


def _cells(path: Path) -> list[SourceCell]:
    """The cells of a notebook.

    Raises:
        UsageError: when it cannot be read as one.
    """
    try:
        cells = cells_of(notebook_text(path.read_bytes()).text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except SubmissionError as error:
        raise UsageError(f"{path} cannot be read as a notebook: {error}.") from error
    return [
        SourceCell(
            number,
            str(cell.get("cell_type")),
            text_of(cell).replace("\r\n", "\n"),
            "".join(_outputs(cell)).strip("\n"),
            nbgrader_marks(cell),
            bool(cell.get("attachments")),
        )
        for number, cell in enumerate(cells, 1)
        if isinstance(cell, dict)
    ]


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    """What a cell printed, and its last value, as text."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        for text in (output.get("text"), data.get("text/plain") if isinstance(data, dict) else ""):
            yield "".join(map(str, text)) if isinstance(text, list) else str(text or "")


RELEASED = re.compile(r"#\s*YOUR CODE HERE")


def read_nbgrader(path: Path) -> Reading:
    """A source notebook of nbgrader.

    Raises:
        UsageError: when it is no such notebook, or its markers are not in pairs.
    """
    reading = _Reading(path)
    reading.read()
    if not reading.has_questions:
        raise UsageError(
            f"{path} has no autograded answer: a code cell that nbgrader's metadata marks as a "
            "solution, and not as graded by hand. Is it a notebook of nbgrader's `source` folder?"
        )
    return reading


@dataclass(slots=True)
class _Reading(Reading):
    """A notebook of nbgrader, as far as it is read.

    Args:
        latest: the latest answer's position among the parts; tests belong to it.
    """

    latest: int | None = None

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        marks, number = cell.marks, cell.number
        name, points = marks.get("grade_id", ""), marks.get("points", 0)
        is_graded, is_solution = bool(marks.get("grade")), bool(marks.get("solution"))
        worth = f"{name} ({points} points) is graded by hand"
        by_hand = f"{worth}; it is left out, with the text of its cell"
        if marks.get("task"):
            self.notes.add(number, f"the task {by_hand}")
        elif is_solution and (is_graded or cell.kind != "code"):
            self.notes.add(number, f"the answer {by_hand}")
        elif is_solution:
            self.latest = len(self.parts)
            self.parts.append(Question(number, (self._marked(cell),)))
        elif is_graded and self.latest is None:
            self.notes.add(number, f"the tests {name} stand before any answer; they are left out")
        elif is_graded:
            self._add_tests(cell, self.latest or 0)
        elif cell.kind == "raw":
            self.notes.add(number, "a raw cell is left out")
        else:
            self.add_text(cell)

    def _lines(
        self, number: int, text: str, what: str, unpaired: str
    ) -> Iterator[tuple[str, bool]]:
        """The lines of a cell without its markers, and whether each stands between two of them.

        Raises:
            UsageError: when the markers are not in pairs.
        """
        is_inside = False
        for line in self.without_magics(number, text).split("\n"):
            match = re.search(f"(BEGIN|END) {what}", line)
            if match is None:
                yield line, is_inside
            elif is_inside == (match[1] == "BEGIN"):
                raise self.fault(number, unpaired)
            else:
                is_inside = not is_inside
        if is_inside:
            raise self.fault(number, f"`BEGIN {what}` has no `END {what}`")

    def _marked(self, cell: SourceCell) -> MarkedCode:
        """An answer's code without its markers; all of it where it has none."""
        unpaired = "its solution's markers do not pair"
        lines = [*self._lines(cell.number, cell.text.strip("\n"), "SOLUTION", unpaired)]
        is_marked = re.search("BEGIN SOLUTION", cell.text) is not None
        if not is_marked and any(RELEASED.search(line) for line, _ in lines):
            released = "it holds no solution; import the notebook of the `source` folder"
            raise self.fault(cell.number, released)
        solution = {n for n, (_, is_inside) in enumerate(lines, 1) if is_inside or not is_marked}
        return MarkedCode(cell.number, "\n".join(line for line, _ in lines), frozenset(solution))

    def _add_tests(self, cell: SourceCell, latest: int) -> None:
        """The visible and the hidden part of a test cell; its points stand at the first of them."""
        worth = [self.points(cell.number, cell.marks.get("points", 0)), Fraction(0)]
        unpaired = "the markers of its hidden tests do not pair"
        lines = [*self._lines(cell.number, cell.text, "HIDDEN TESTS", unpaired)]
        cases = []
        for hidden in (False, True):
            text = "\n".join(line for line, is_inside in lines if is_inside is hidden).strip("\n")
            if text.strip():
                cases.append(Case(cell.number, text, hidden, worth.pop(0)))
        question = self.parts[latest]
        assert isinstance(question, Question)
        self.parts[latest] = replace(question, cases=(*question.cases, *cases))
