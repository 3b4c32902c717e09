"""One file that was handed in, as text: a script, or a notebook's cells. Nothing in it is run."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.core.encodings import Decoded, decoded
from grader.core.errors import SubmissionError
from grader.core.language import _
from grader.core.text import clean
from grader.course.course import Assignment, Course, Exercise
from grader.sandbox.failures import stub_message
from grader.sandbox.limits import libraries_in, slow_parts_in
from grader.submissions.file_names import plain_name
from grader.submissions.notebooks import MAX_BYTES as MAX_NOTEBOOK_BYTES
from grader.submissions.notebooks import (
    MAX_CODE_CHARACTERS,
    Cell,
    NoTextError,
    code_cells,
    no_text,
    notebook_text,
)

DEFINED = re.compile(r"^[ \t]*+(?:(?:async )?def|class)[ \t]++(\w++)", re.MULTILINE)
OUTERMOST = re.compile(r"^(?:(?:async )?def|class)[ \t]++(\w++)", re.MULTILINE)
SET = re.compile(r"^(\w++)[ \t]*+(?::[^=\n]*+)?=(?!=)", re.MULTILINE)
TARGETS = re.compile(r"^(?![ \t])([\w \t,]*+)[:=][^=]", re.MULTILINE)
IMPORTED = re.compile(r"\bimport\b(.*+)")
PLACES = re.compile(r"^([ \t]*+)(?:def|class)[ \t]++(\w++)|^(\w++)[ \t]*+[:=]", re.MULTILINE)
"""Each takes time by the length of a text, whatever stands in it; and so there are few of them."""


Place = tuple[int | None, int, bool]
"""A cell, a line, and whether a function or class is defined there that stands in no other one."""


@dataclass(frozen=True)
class SourceFile:
    """One file as text.

    Args:
        key: its path inside the submission, with `/`.
        module: the name it is imported by.
        importable: whether other files may import it (only the course's own module names).
        cells: its code; one cell without a number for a `.py` file.
        problem: why it could not be read, "" when it could.
        is_refused: whether it was this machine that could not read it, not that it makes no sense.
        is_text: whether it could be read as text at all; who cannot read it cannot say what it is.
        encoding: what it was taken for, where it is not UTF-8 and does not say what it is.
        also: the names of exercises that it defines by other names, each with that one.
    """

    key: str
    module: str
    importable: bool
    cells: tuple[Cell, ...]
    problem: str = ""
    is_refused: bool = False
    is_text: bool = True
    encoding: str = ""
    also: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The path as people are shown it."""
        return clean(self.key, 200)

    @property
    def text(self) -> str:
        """All its code."""
        return "\n".join(cell.text for cell in self.cells)

    @cached_property
    def libraries(self) -> tuple[str, ...]:
        """What it mentions of what takes long to import."""
        return (*libraries_in([self.text]), *slow_parts_in([self.text]))

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of its text."""
        return frozenset(re.findall(r"\w+", self.text))

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names of functions and classes, at any depth."""
        return frozenset((*DEFINED.findall(self.text), *dict(self.also)))

    @cached_property
    def outermost(self) -> frozenset[str]:
        """The names of functions and classes that stand in no other one."""
        return frozenset((*OUTERMOST.findall(self.text), *dict(self.also)))

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The names that stand where something is set at the top level, or is imported."""
        lines = (*TARGETS.findall(self.text), *IMPORTED.findall(self.text))
        return frozenset(word for line in lines for word in re.findall(r"\w+", line))

    @cached_property
    def places(self) -> Mapping[str, list[Place]]:
        """Where each name is defined, by its text, in order."""
        found: dict[str, list[Place]] = defaultdict(list)
        for cell in self.cells:
            line, before = 1, 0
            for match in PLACES.finditer(cell.text):
                line += cell.text.count("\n", before, match.start())
                before = match.start()
                found[match[2] or match[3]].append((cell.number, line, match[1] == ""))
        return found | {name: found[other] for name, other in self.also}

    def header(self) -> dict[str, object]:
        """This file as it is sent to the servant."""
        return {
            "module": self.module,
            "importable": self.importable,
            "display": self.key.rpartition("/")[2],
            "cells": [[cell.number, cell.text] for cell in self.cells],
            **({"also": dict(self.also)} if self.also else {}),
        }


def read_source(course: Course, path: Path, key: str) -> SourceFile:
    """Read a file; what keeps it from being read is its `problem`.

    Args:
        course: the course.
        path: where it lies.
        key: its path inside the submission.
    """
    try:
        size, data = path.stat().st_size, b""
        if size <= most_bytes(key):
            data = path.read_bytes()
    except OSError as error:
        unread = source_of(course, key, b"", 0)
        return replace(unread, cells=(), problem=f"{error.strerror}", is_refused=True)
    return source_of(course, key, data, max(size, len(data)))


def most_bytes(key: str) -> int:
    """How long a file may be to be read."""
    return MAX_NOTEBOOK_BYTES if _is_notebook(key) else MAX_CODE_CHARACTERS


def _is_notebook(key: str) -> bool:
    return key.lower().endswith(".ipynb")


def source_of(course: Course, key: str, data: bytes, size: int) -> SourceFile:
    """A file's content as text; what keeps it from being read is its `problem`.

    Args:
        course: the course.
        key: its path inside the submission.
        data: its content; anything where it is too long.
        size: how long it is, in bytes.
    """
    stem = PurePosixPath(key).stem
    module = plain_name(stem)
    importable = any(module == assignment.module for assignment in course.assignments)
    source = SourceFile(key, module if importable else stem, importable, ())
    try:
        if size > most_bytes(key):
            sentence = _("it has {size} bytes; at most {most} are read")
            raise SubmissionError(sentence.format(size=size, most=most_bytes(key)))
        if _is_notebook(key):
            content = notebook_text(data, course.encodings)
            cells = code_cells(content.text)
        else:
            content = _script(data, course.encodings)
            cells = (Cell(None, content.text),)
    except SubmissionError as error:
        return replace(source, problem=str(error), is_text=not isinstance(error, NoTextError))
    found = replace(source, cells=cells, encoding=content.guessed)
    also = (
        (name, other)
        for name, others in course.other_names.exercises
        for other in [other for other in others if other in found.outermost][-1:]
        if name not in found.defined | found.mentioned
    )
    return replace(found, also=tuple(also))


def _script(data: bytes, encodings: Sequence[str]) -> Decoded:
    """The text of a script, with line ends of one kind.

    Raises:
        NoTextError: when it is text in no encoding.
    """
    found = decoded(data, encodings)
    if found is None:
        raise no_text(encodings)
    text = found.text.replace("\r\n", "\n").replace("\r", "\n")
    return replace(found, text=text)


def problem_note(source: SourceFile) -> tuple[str, ...]:
    """Why a file cannot be read, if it cannot."""
    if not source.problem:
        return ()
    note = _("{file} cannot be read: {problem}.")
    return (note.format(file=source.name, problem=source.problem),)


def encoding_note(source: SourceFile) -> tuple[str, ...]:
    """What a file was taken for that does not say in which encoding it is."""
    if not source.encoding or source.problem:
        return ()
    note = _("{file} does not say its encoding and was read as {encoding}. Save it as UTF-8.")
    if source.encoding == "utf-8":
        note = _("{file} names an encoding that it is not in; it was read as {encoding}.")
    return (note.format(file=source.name, encoding=source.encoding.upper()),)


def definitions(
    source: SourceFile, name: str, *, outermost: bool = False
) -> Iterator[tuple[int | None, int]]:
    """The cells and lines in which a file defines a name, by its text, in order.

    Args:
        source: the file.
        name: the name.
        outermost: only as a function or class that stands in no other one.
    """
    for cell, line, is_outermost in source.places.get(name, ()):
        if is_outermost or not outermost:
            yield cell, line


def has_stub(source: SourceFile, exercise: Exercise) -> bool:
    """Whether an exercise's stub stands in a file as it was released."""
    return f'"{stub_message(exercise.id)}"' in source.text


def is_written(source: SourceFile, exercise: Exercise) -> bool:
    """Whether a file defines an exercise at its top level, and not by the stub as it was released."""
    is_set = exercise.name.isupper() and exercise.name in SET.findall(source.text)
    return (exercise.name in source.outermost or is_set) and not has_stub(source, exercise)


def may_define(source: SourceFile, assignment: Assignment) -> bool:
    """Whether a file may define an exercise of an assignment; who cannot read it cannot say no."""
    if source.problem:
        return True
    names = {exercise.name for exercise in assignment.exercises}
    return bool(names & source.defined or names & source.mentioned)


def has_own(source: SourceFile, assignment: Assignment, exercise: Exercise) -> bool:
    """Whether a file may define one exercise of an assignment, other than by its stub."""
    alone = replace(assignment, exercises=(exercise,))
    return may_define(source, alone) and not has_stub(source, exercise)
