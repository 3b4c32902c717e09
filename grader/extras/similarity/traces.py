"""What a student left in their files that is their own: comments, names, strings, cells, code, values.

What everybody was given (the stub and the notebook) is no trace, nor is what Python or the solution
calls something, nor what a known mistake explains.
"""

import builtins
import hashlib
import keyword
import pickle
import re
import zlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from grader.core.errors import SubmissionError
from grader.core.records import ExerciseResult, Outcome, Picture, Result
from grader.course.course import Assignment, Course
from grader.course.misconceptions import all_misconceptions
from grader.course.styles import read_styles
from grader.submissions.notebooks import cells_of, notebook_text, text_of
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission

TOKENS = re.compile(
    r"""
    (?P<string>[rbfuRBFU]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    | (?P<comment>\#[^\n]*)
    | (?P<method>(?<!self)\.[ ]*[A-Za-z_]\w*)
    | (?P<name>[^\W\d]\w*)
    | (?P<sign>\d[\w.]*|[-+*/@%<>=!&|~^]+)
    """,
    re.DOTALL | re.VERBOSE,
)
IMPORTS = re.compile(r"^[ ]*(?:from|import)[ ].*$", re.MULTILINE)
HEADER = re.compile(r"^([ ]*)(?:async[ ]+)?(?:def|class)[ ]+(\w+)")
OUTERMOST = re.compile(r"^(?:async[ ]+)?(?:def|class)[ ]+(\w+)", re.MULTILINE)
OUTSIDE = re.compile(r"^(?:@|(?:if|for|while|with|from|import)\b|\w+[ ]*[=(\[.:])")
"""A line that stands in no function or class."""
CELL = "# %%"
"""What a cell begins with in a script that was made from a notebook."""
LOCAL = re.compile(r"\bfor[ ]+(\w+)|\b(\w+)(?=[ ]*(?:[-+*/@]|\*\*)?=(?!=))")
"""A name that code gives to something."""
PYTHONS = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "torch", "nn", "np", "F"}
FEWEST_TOKENS, FEWEST_DEFINITIONS = 3, 4
"""Shorter code says nothing, nor do fewer definitions of all together."""


class Kind(StrEnum):
    """What kind of thing a trace is; the value is for people."""

    CELL = "a cell with the same random id"
    VALUES = "the same wrong values, which no known mistake explains"
    COMMENT = "a comment"
    STRING = "a string"
    NAME = "a name"
    CODE = "the same code but for names and comments"
    FILE = "all code of an assignment the same but for names and comments"
    STEP = "an unusual step"
    ORDER = "definitions in the same unusual order"


TEXTS = {Kind.COMMENT, Kind.STRING, Kind.NAME}
"""Kinds whose words say how unusual they are."""


class Trace(NamedTuple):
    """Something that others may have as well.

    Args:
        where: the id of the assignment or exercise; "" for a habit, which may show anywhere.
        text: what it is, for people.
        key: what makes it the same as another one, where that is not the text.
        place: the definition in which it stands.
    """

    kind: Kind
    where: str
    text: str
    key: str = ""
    place: str = ""

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


Text = list[Line] | str
"""Lines of a student's own, or what stands in none."""


class Own(NamedTuple):
    """A student's own code.

    Args:
        lines: by assignment.
        texts: each trace as it stands in the student's work.
    """

    lines: dict[str, list[Line]]
    texts: dict[Trace, Text]


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
        words: names that stand in the stub, in the solution or in a known mistake.
        cells: the ids of the released notebook's cells.
        order: the names that the stub defines.
        steps: the words in known ways to write an exercise, by its short name.
    """

    lines: frozenset[str]
    words: frozenset[str]
    cells: frozenset[str]
    order: tuple[str, ...] = ()
    steps: Mapping[str, frozenset[str]] = field(default_factory=dict)

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
        texts += [mistake.replace for mistake in all_misconceptions(course)[assignment.id]]
        words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
        ids = {id_ for id_, _ in cells if id_}
        order = _outermost(stub)
        steps = {
            name: frozenset(_bare(m[0]) for one in styles for m in TOKENS.finditer(one.code))
            for name, styles in read_styles(course, assignment).items()
        }
        return cls(frozenset(lines), frozenset(words | PYTHONS), frozenset(ids), order, steps)

    def and_of(self, other: "Given") -> "Given":
        """What two assignments hand out, for a file that is read for both; its order is its own."""
        lines, words = self.lines | other.lines, self.words | other.words
        return replace(self, lines=lines, words=words, cells=self.cells | other.cells)


def _bare(token: str) -> str:
    return token.strip(". \"'")


def _outermost(text: str) -> tuple[str, ...]:
    """The names of the outermost functions and classes, in order."""
    return tuple(dict.fromkeys(OUTERMOST.findall(text)))


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
    texts: dict[Trace, Text] = {}
    mentions: dict[str, set[str]] = defaultdict(set)
    wrong = result.exercises if result else ()
    named = {exercise.id for exercise in wrong if exercise.findings}
    for key, (id_, *others) in _assignments_of_files(submission, given).items():
        source, handed_out = submission.sources[key], given[id_]
        for other in others:
            handed_out = handed_out.and_of(given[other])
        blocks = _blocks(source, handed_out)
        for (outer, _inner), block in blocks.items():
            lines.setdefault(id_, []).extend(block)
            for line in block if wrong else ():
                mentions[outer].update(re.findall(r"\w+", line.text))
            is_explained = f"{id_}/{outer}" in named
            found = _block_traces(id_, outer, block, handed_out, is_explained=is_explained)
            for trace, text in found:
                texts.setdefault(trace, text)
        texts |= _file_trace(id_, [t for t in texts if t.kind is Kind.CODE and t.where == id_])
        texts |= _order_trace(id_, source, given[id_])
        if key.endswith(".ipynb"):
            texts |= _cell_traces(id_, folder / key, handed_out)
    for exercise in wrong:
        if exercise.id not in named and not _follows(exercise, mentions, wrong):
            texts |= _wrong_values(exercise)
    return Work(
        name, bool(archive), tuple(texts), zlib.compress(pickle.dumps(Own(lines, texts)), 1)
    )


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


def _blocks(source: SourceFile, given: Given) -> dict[tuple[str, str], list[Line]]:
    """A student's own lines by the outermost and the innermost definition in which they stand.

    By lines, so that it does not matter whether the file is Python.
    """
    found: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for cell in source.cells:
        place = ("", "")
        for number, text in enumerate(cell.text.split("\n"), 1):
            if text.startswith(CELL):
                place = ("", "")
                continue
            header = HEADER.match(text) if "def " in text or "class " in text else None
            if header:
                place = (place[0] if header[1] and place[0] else header[2], header[2])
            elif not text.startswith((" ", "#")) and OUTSIDE.match(text):
                place = ("", "")
            bare = text.strip()
            is_given = bare in given.lines or (header is not None and header[2] in given.order)
            # A notebook made into a script has its texts, and cells that are not to run, as comments.
            if not is_given and not (bare[:1] == "#" and bare[1:].strip() in given.lines):
                found[place].append(Line(source.name, cell.number, number, text.rstrip("\r")))
    return found


def _block_traces(
    assignment: str, outer: str, block: list[Line], given: Given, *, is_explained: bool
) -> Iterator[tuple[Trace, Text]]:
    """Comments, strings, names and code of one definition.

    Args:
        assignment: its id.
        outer: the outermost definition; "" for what stands in none.
        block: its lines.
        given: what everybody has.
        is_explained: whether a known mistake explains how it is written.
    """
    text = "\n".join(line.text for line in block)
    nobodys = {word for line in IMPORTS.findall(text) for word in re.findall(r"\w+", line)}
    starts = [*accumulate((len(line.text) + 1 for line in block), initial=0)]
    local = {name for names in LOCAL.findall(text) for name in names}
    numbers: dict[str, str] = {}
    form, steps = list[str](), set[str]()
    for match in TOKENS.finditer(text):
        word, group = match[0], match.lastgroup
        kind, said = None, word
        if group == "comment":
            said = " ".join(word.strip("# \t").lower().split())
            if len(said) > 3 and word.strip() not in given.lines:
                kind = Kind.COMMENT
        elif group == "string" and (len(word.split()) > 1 or word.startswith(('"""', "'''"))):
            said = " ".join(word.lstrip("rbfuRBFU").strip("\"' \n").split())
            if said and said not in given.words:
                kind = Kind.STRING
            form.append("''")
        elif group == "name" and word not in PYTHONS:
            if (
                len(word) > 2
                and word not in given.words
                and word not in nobodys
                and word[:2] != "__"
            ):
                kind = Kind.NAME
            is_own = word in local or word not in given.words
            form.append(numbers.setdefault(word, str(len(numbers))) if is_own else word)
        else:
            form.append(word)
            steps.add(_bare(word))
        if kind:
            line = block[bisect(starts, match.start()) - 1]
            yield Trace(kind, "" if kind is Kind.NAME else assignment, said, place=outer), [line]
    if outer and not is_explained and len(form) >= FEWEST_TOKENS:
        place = outer if outer in given.order else ""
        digest = hashlib.sha256(" ".join((place, *form)).encode()).hexdigest()[:16]
        yield Trace(Kind.CODE, assignment, outer, digest, outer), block
        for step in sorted(steps - given.steps.get(outer, frozenset())) if place else ():
            yield Trace(Kind.STEP, assignment, f"{step} in {outer}", place=outer), block


def _file_trace(assignment: str, code: Sequence[Trace]) -> dict[Trace, Text]:
    """The code of all definitions of a file, in whatever order."""
    if len(code) < FEWEST_DEFINITIONS:
        return {}
    digest = hashlib.sha256(" ".join(sorted(trace.key for trace in code)).encode()).hexdigest()[:16]
    text = ", ".join(trace.text for trace in code)
    return {Trace(Kind.FILE, assignment, text, digest): text}


def _order_trace(assignment: str, source: SourceFile, given: Given) -> dict[Trace, Text]:
    """In which order a student defines what the stub defines, where it is another one."""
    names = [name for name in _outermost(source.text) if name in given.order]
    if names == sorted(names, key=given.order.index):
        return {}
    text = ", ".join(names)
    return {Trace(Kind.ORDER, assignment, text): text}


def _cell_traces(assignment: str, notebook: Path, given: Given) -> dict[Trace, Text]:
    """The cells that the student added."""
    return {
        Trace(Kind.CELL, assignment, f"{id_}: {text.strip().splitlines()[0][:60]}", id_): text
        for id_, text in _cells(notebook)
        if id_ and id_ not in given.cells and text.strip()
    }


def _follows(
    exercise: ExerciseResult, mentions: Mapping[str, set[str]], wrong: Sequence[ExerciseResult]
) -> bool:
    """Whether what is wrong may come from what is wrong in another exercise that its code uses.

    Args:
        exercise: what is wrong.
        mentions: the words in each of the student's own definitions.
        wrong: all that are.
    """
    assignment = exercise.id.partition("/")[0]
    names, todo = set[str](), [exercise.name]
    known = {*mentions, *(other.name for other in wrong)} - {*exercise.judged_with, ""}
    while todo:
        names.add(name := todo.pop())
        todo += mentions.get(name, set()) & known - names
    sources = {*exercise.uses, *(f"{assignment}/{name}" for name in names)} - {exercise.id}
    return any(other.id in sources for other in wrong)


def _wrong_values(exercise: ExerciseResult) -> dict[Trace, Text]:
    """What came back wrong, together: the values of pictures, or what is said of a number."""
    received = dict[str, str]()
    for check in exercise.checks:
        said = check.message.rpartition("\n")[2]
        if check.outcome is Outcome.FAILED and check.picture is not None:
            with suppress(ValueError):
                received[check.id] = _in_words(check.picture)
        elif check.outcome is Outcome.FAILED and re.search(r"\d", said):
            received[check.id] = said
    if not received:
        return {}
    digest = hashlib.sha256(repr(sorted(received.items())).encode()).hexdigest()[:16]
    text = next(iter(received.values()))
    return {Trace(Kind.VALUES, exercise.id, text, digest, exercise.name): text}


def _in_words(picture: Picture) -> str:
    rows = [
        ", ".join(v if isinstance(v, str) else f"{v:.6g}" for v in row) for row in picture.received
    ]
    return f"{picture.what}: {'; '.join(rows)}"
