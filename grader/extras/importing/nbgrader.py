"""What a notebook of another grader is read into, and the reader of nbgrader's format.

Written after the metadata's schema, version 3; the versions before it have the same keys. Metadata says
what each cell is, markers what is in it.
"""

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


@dataclass(frozen=True, slots=True)
class Note:
    """What could not be carried over, in a sentence; the cell is 0 for the whole notebook."""

    cell: int
    text: str

    def __str__(self) -> str:
        """The sentence after its cell."""
        return f"cell {self.cell}: {self.text}" if self.cell else self.text


def no_python(cell: int, error: SyntaxError) -> Note:
    """That a cell's code cannot be carried over, and why."""
    reason = f"{error.msg} (line {error.lineno})"
    return Note(cell, f"the code is left out, because it is no Python: {reason}")


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
class Imported:
    """A notebook, read: its parts in order, and what could not be carried over."""

    parts: list[Text | Question] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its first heading, "" where it has none."""
        texts = (p.text for p in self.parts if isinstance(p, Text) and p.kind == "markdown")
        return next((found[1] for text in texts if (found := HEADING.search(text))), "")

    def note(self, cell: int, text: str) -> None:
        """Take down what could not be carried over."""
        self.notes.append(Note(cell, text))

    def add_text(self, cell: SourceCell, text: str | None = None) -> None:
        """Add a cell that students receive as it is, or as the text says."""
        text = (cell.text if text is None else text).strip("\n")
        if cell.has_attachments:
            self.note(cell.number, "a picture is stored in the cell; put it beside the notebook")
        if cell.kind == "code":
            text = self.without_magics(cell.number, text)
        if text.strip():
            self.parts.append(Text(cell.number, cell.kind, text))

    def without_magics(self, cell: int, text: str) -> str:
        """Code without the lines that only IPython understands, each of which is noted."""
        lines = text.split("\n")
        for line in filter(MAGIC.match, lines):
            self.note(cell, f"`{line.strip()}` is no Python; it is left out")
        return "\n".join(line for line in lines if not MAGIC.match(line))


@dataclass(slots=True)
class Reading:
    """A notebook as far as it is read; each format has its own `take`.

    Args:
        path: the notebook.
        found: what was read.
    """

    path: Path
    found: Imported = field(default_factory=Imported)

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        raise NotImplementedError

    def read(self) -> None:
        """Read all cells.

        Raises:
            UsageError: when it cannot be read as a notebook, or not in this format.
        """
        for cell in read_cells(self.path):
            self.take(cell)

    @property
    def has_questions(self) -> bool:
        """Whether there is something to write in it."""
        return any(isinstance(part, Question) for part in self.found.parts)

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


def read_cells(path: Path) -> list[SourceCell]:
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


SOLUTION = re.compile(r"(BEGIN|END) SOLUTION")
HIDDEN_TESTS = re.compile(r"(BEGIN|END) HIDDEN TESTS")
RELEASED = re.compile(r"#\s*YOUR CODE HERE")


def read_nbgrader(path: Path) -> Imported:
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
    return reading.found


@dataclass(slots=True)
class _Reading(Reading):
    """A notebook of nbgrader, as far as it is read.

    Args:
        latest: the latest answer's position among the parts; tests belong to it.
    """

    latest: int | None = None

    def take(self, cell: SourceCell) -> None:
        """Read the next cell."""
        marks = cell.marks
        name, points = marks.get("grade_id", ""), marks.get("points", 0)
        is_graded, is_solution = bool(marks.get("grade")), bool(marks.get("solution"))
        by_hand = "it is left out, with the text of its cell"
        if marks.get("task"):
            self.found.note(
                cell.number, f"the task {name} ({points} points) is graded by hand; {by_hand}"
            )
        elif is_solution and (is_graded or cell.kind != "code"):
            self.found.note(
                cell.number, f"the answer {name} ({points} points) is graded by hand; {by_hand}"
            )
        elif is_solution:
            self.latest = len(self.found.parts)
            self.found.parts.append(Question(cell.number, (self._marked(cell),)))
        elif is_graded and self.latest is None:
            self.found.note(
                cell.number, f"the tests {name} stand before any answer; they are left out"
            )
        elif is_graded:
            self._add_tests(cell)
        elif cell.kind == "raw":
            self.found.note(cell.number, "a raw cell is left out")
        else:
            self.found.add_text(cell)

    def _marked(self, cell: SourceCell) -> MarkedCode:
        """An answer's code without its markers; all of it where it has none."""
        kept: list[str] = []
        solution: set[int] = set()
        is_solution = is_marked = False
        text = self.found.without_magics(cell.number, cell.text.strip("\n"))
        for line in text.split("\n"):
            if found := SOLUTION.search(line):
                if is_solution == (found[1] == "BEGIN"):
                    raise self.fault(cell.number, "its solution's markers do not pair")
                is_marked, is_solution = True, not is_solution
                continue
            kept.append(line)
            if is_solution:
                solution.add(len(kept))
        if is_solution:
            raise self.fault(cell.number, "`BEGIN SOLUTION` has no `END SOLUTION`")
        if not is_marked:
            if any(map(RELEASED.search, kept)):
                sentence = "it holds no solution; import the notebook of the `source` folder"
                raise self.fault(cell.number, sentence)
            solution.update(range(1, len(kept) + 1))
        return MarkedCode(cell.number, "\n".join(kept), frozenset(solution))

    def _add_tests(self, cell: SourceCell) -> None:
        """The visible and the hidden part of a test cell; its points stand at the first of them."""
        points = self.points(cell.number, cell.marks.get("points", 0))
        parts: dict[bool, list[str]] = {False: [], True: []}
        is_hidden = False
        for line in self.found.without_magics(cell.number, cell.text).split("\n"):
            if found := HIDDEN_TESTS.search(line):
                if is_hidden == (found[1] == "BEGIN"):
                    raise self.fault(cell.number, "the markers of its hidden tests do not pair")
                is_hidden = not is_hidden
            else:
                parts[is_hidden].append(line)
        if is_hidden:
            raise self.fault(cell.number, "`BEGIN HIDDEN TESTS` has no `END HIDDEN TESTS`")
        texts = {hidden: "\n".join(lines).strip("\n") for hidden, lines in parts.items()}
        worth = [points, Fraction(0)]
        cases = [
            Case(cell.number, text, hidden, worth.pop(0))
            for hidden, text in texts.items()
            if text.strip()
        ]
        question = self.found.parts[self.latest or 0]
        if isinstance(question, Question):
            all_cases = (*question.cases, *cases)
            self.found.parts[self.latest or 0] = replace(question, cases=all_cases)
