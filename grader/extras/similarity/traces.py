"""What a student left in their files that is their own: comments, names, strings, cells, values.

What everybody was given (the stub and the notebook) is no trace, nor is what Python or the solution
calls something.
"""

import ast
import builtins
import hashlib
import keyword
import pickle
import re
import zlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from grader.core.errors import SubmissionError
from grader.core.records import ExerciseResult, Outcome, Result
from grader.course.course import Assignment, Course
from grader.submissions.notebooks import cells_of, notebook_text, text_of
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission

LONG = 8
"""A function counts as long with more statements than this, and more lines of the student's own."""

WORDS = re.compile(
    r"""
    (?P<string>[rbfuRBFU]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    | (?P<comment>\#[^\n]*)
    | (?P<method>(?<!self)\.[ ]*[A-Za-z_]\w*)
    | (?P<name>[A-Za-z_]\w*)
    """,
    re.DOTALL | re.VERBOSE,
)
IMPORTS = re.compile(r"^[ ]*(?:from|import)[ ].*$", re.MULTILINE)
PYTHONS = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "torch", "nn", "np", "F"}


class Kind(StrEnum):
    """What kind of thing a trace is; the value is for people."""

    CELL = "a cell with the same random id"
    VALUES = "the same wrong values, which no known mistake explains"
    COMMENT = "a comment"
    STRING = "a string"
    NAME = "a name"
    FORM = "a long function of the same form"
    LINE = "a line of code"
    REMOVED = "the same lines of the stub removed"


class Trace(NamedTuple):
    """Something that others may have as well.

    Args:
        where: the id of the assignment or exercise; "" for a habit, which may show anywhere.
        text: what it is, for people.
        key: what makes it the same as another one, where that is not the text.
    """

    kind: Kind
    where: str
    text: str
    key: str = ""

    def __eq__(self, other: object) -> bool:
        """By what makes it the same."""
        return isinstance(other, Trace) and self.same == other.same

    def __hash__(self) -> int:
        """By what makes it the same."""
        return hash(self.same)

    @property
    def same(self) -> tuple[str, str, str]:
        """What is compared."""
        return self.kind, self.where, self.key or self.text


class Line(NamedTuple):
    """A line of a student's own.

    Args:
        file: its path inside the submission.
        cell: the notebook's cell, counted from 1; None in a script.
        number: counted from 1, in a notebook inside the cell.
    """

    file: str
    cell: int | None
    number: int
    text: str


class Own(NamedTuple):
    """A student's own code.

    Args:
        lines: by assignment.
        lines_of: the first line of each trace that stands in one.
    """

    lines: dict[str, list[Line]]
    lines_of: dict[Trace, Line]


@dataclass(frozen=True, slots=True)
class Work:
    """What one student left.

    Args:
        student: who; of an earlier year with its folder's name before it.
        is_archived: whether it is of an earlier year.
        traces: what others may have as well.
        packed: the code, in a twentieth of the room: few of a class are looked at.
    """

    student: str
    is_archived: bool = False
    traces: tuple[Trace, ...] = ()
    packed: bytes = b""

    @property
    def own(self) -> Own:
        """The student's own code."""
        own: Own = pickle.loads(zlib.decompress(self.packed))
        return own


@dataclass(frozen=True, slots=True)
class Given:
    """What everybody has in an assignment.

    Args:
        lines: of the stub and the notebook.
        words: names that stand in the stub or in the solution.
        prose: the lines of the stub that are comments, or stand in docstrings.
        cells: the ids of the released notebook's cells.
    """

    lines: frozenset[str]
    words: frozenset[str]
    prose: tuple[str, ...]
    cells: frozenset[str]

    @classmethod
    def of(cls, course: Course, assignment: Assignment) -> "Given":
        """What an assignment hands out."""
        paths = course.paths(assignment)
        texts = [p.read_text("utf-8") for p in (paths.stub, paths.solution) if p.is_file()]
        stub = texts[0] if texts else ""
        cells = _cells(paths.notebook)
        lines = {
            line.strip() for text in (stub, *(t for _, t in cells)) for line in text.split("\n")
        }
        code = re.compile(r"^\s*(?:def|class|return|import|from|raise|@|[)\]}])|=|^\s*$")
        prose = dict.fromkeys(s.strip() for s in stub.split("\n") if not code.search(s))
        words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
        ids = {id_ for id_, _ in cells if id_}
        return cls(frozenset(lines), frozenset(words | PYTHONS), tuple(prose), frozenset(ids))

    def and_of(self, other: "Given") -> "Given":
        """What two assignments hand out, for a file that is read for both; its prose is its own."""
        lines, words = self.lines | other.lines, self.words | other.words
        return Given(lines, words, self.prose, self.cells | other.cells)


def _cells(notebook: Path) -> list[tuple[str, str]]:
    """The id and the text of a notebook's cells; none where there is no such file."""
    try:
        cells = cells_of(notebook_text(notebook.read_bytes()).text)
    except (OSError, SubmissionError):
        return []
    return [(str(cell.get("id") or ""), text_of(cell)) for cell in cells if isinstance(cell, dict)]


def work_of(
    submission: Submission,
    folder: Path,
    given: Mapping[str, Given],
    result: Result | None = None,
    archive: str = "",
) -> Work:
    """What a student left.

    Args:
        submission: as it was read.
        folder: where its files lie.
        given: what each assignment hands out.
        result: of the run, for the values; None for work of an earlier year.
        archive: the name of the earlier year, "" for this class.
    """
    name = f"{archive}/{submission.student}" if archive else submission.student
    lines: dict[str, list[Line]] = {}
    traces: dict[Trace, Line | None] = {}
    for key, (id_, *others) in _assignments_of_files(submission, given).items():
        source, handed_out = submission.sources[key], given[id_]
        for other in others:
            handed_out = handed_out.and_of(given[other])
        file = source.name
        own = [
            Line(file, cell.number, number, text.rstrip("\r"))
            for cell in source.cells
            for number, text in enumerate(cell.text.split("\n"), 1)
            if text.strip() not in handed_out.lines
        ]
        lines.setdefault(id_, []).extend(own)
        for trace, line in _text_traces(id_, own, handed_out):
            traces.setdefault(trace, line)
        more = (_form_traces(id_, source, own), _removed(id_, source.text, given[id_]))
        is_notebook = key.endswith(".ipynb")
        added = _cell_traces(id_, folder / key, handed_out) if is_notebook else ()
        for trace in chain(*more, added):
            traces.setdefault(trace, None)
    for exercise in result.exercises if result else ():
        traces |= dict.fromkeys(_wrong_values(exercise))
    mine = Own(lines, {trace: line for trace, line in traces.items() if line is not None})
    return Work(name, bool(archive), tuple(traces), zlib.compress(pickle.dumps(mine), 1))


def _assignments_of_files(
    submission: Submission, given: Mapping[str, Given]
) -> dict[str, list[str]]:
    """The assignments that each file is read for, that of its folder first.

    Where an assignment lacks its own file, exercises are looked up in all files of the student.
    """
    found: dict[str, list[str]] = {}
    for id_ in given:
        reading = submission.readings.get(id_)
        for key in reading.sources if reading else ():
            found.setdefault(key, []).append(id_)
    return {
        key: sorted(ids, key=lambda id_: id_ not in Path(key).parts) for key, ids in found.items()
    }


def _text_traces(
    assignment: str, own: list[Line], given: Given
) -> Iterator[tuple[Trace, Line | None]]:
    """Comments, strings, names and lines of the student's own, each with its line."""
    text = "\n".join(line.text for line in own)
    others = given.words.union(re.findall(r"__\w+__", text))
    others |= {word for line in IMPORTS.findall(text) for word in re.findall(r"\w+", line)}
    starts = [*accumulate((len(line.text) + 1 for line in own), initial=0)]
    for match in WORDS.finditer(text):
        line = own[bisect(starts, match.start()) - 1]
        word = match[0]
        if match.lastgroup == "comment":
            said = " ".join(word.strip("# \t").lower().split())
            if len(said) > 3 and word.strip() not in given.lines:
                yield Trace(Kind.COMMENT, assignment, said), line
        elif match.lastgroup == "string" and len(word) > 5:
            said = " ".join(word.strip("\"'rbfuRBFU \n").split())
            if said and said not in given.words:
                yield Trace(Kind.STRING, assignment, said), line
        elif match.lastgroup == "name" and len(word) > 2 and word not in others:
            yield Trace(Kind.NAME, "", word), line
    for line in own:
        code = line.text.partition("#")[0].strip()
        if len(code) > 8:
            yield Trace(Kind.LINE, assignment, code), line


def _cell_traces(assignment: str, notebook: Path, given: Given) -> Iterator[Trace]:
    """The cells that the student added."""
    for id_, text in _cells(notebook):
        if id_ and id_ not in given.cells and text.strip():
            first = text.strip().split("\n")[0][:60]
            yield Trace(Kind.CELL, assignment, f"{id_}: {first}", id_)


def _form_traces(assignment: str, source: SourceFile, own: Iterable[Line]) -> Iterator[Trace]:
    """The long functions, whatever their names are."""
    mine: dict[int | None, set[int]] = defaultdict(set)
    for line in own:
        mine[line.cell].add(line.number)
    for cell in source.cells if max(map(len, mine.values()), default=0) > LONG else ():
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for node in _functions(ast.parse(cell.text)):
                lines = range(node.lineno, (node.end_lineno or 0) + 1)
                is_own = sum(number in mine[cell.number] for number in lines) > LONG
                if is_own and sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) > LONG:
                    yield Trace(Kind.FORM, assignment, node.name, _form(node))


def _functions(node: ast.Module | ast.stmt) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions in a tree, however deep in classes and in others."""
    for inner in getattr(node, "body", ()):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner
        yield from _functions(inner)


def _form(node: ast.AST) -> str:
    """The kinds of a tree's nodes in order, without names and without docstrings."""
    kinds, todo = [], [node]
    while todo:  # `ast.walk` takes three times as long
        one = todo.pop()
        if not isinstance(one, ast.Constant):
            kinds.append(type(one).__name__)
        for field_ in one._fields:
            value = None if field_ == "ctx" else getattr(one, field_, None)
            if isinstance(value, list):
                todo += [inner for inner in value if isinstance(inner, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)
    return hashlib.sha256(" ".join(kinds).encode()).hexdigest()[:16]


def _removed(assignment: str, text: str, given: Given) -> Iterator[Trace]:
    """Which lines of prose of the stub are gone; the TODO of a solved exercise is gone for many."""
    left = {line.strip() for line in text.split("\n")}
    gone = [line for line in given.prose if line not in left]
    if gone and len(gone) < len(given.prose):
        words = f"{len(gone)} lines, the first: {gone[0][:60]}"
        yield Trace(Kind.REMOVED, assignment, words, "\n".join(gone))


def _wrong_values(exercise: ExerciseResult) -> Iterator[Trace]:
    """What came back wrong, together; nothing where a known mistake explains it."""
    if exercise.findings:
        return
    wrong: dict[str, str] = defaultdict(str)
    for check in exercise.checks:
        if check.outcome is Outcome.FAILED and check.picture is not None:
            with suppress(ValueError):
                wrong[check.id] = repr(check.picture.received)
    if wrong:
        digest = hashlib.sha256(repr(sorted(wrong.items())).encode()).hexdigest()[:16]
        yield Trace(Kind.VALUES, exercise.id, f"in {len(wrong)} checks of {exercise.name}", digest)
