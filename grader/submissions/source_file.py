"""One file that was handed in, as text: a script, or a notebook's cells. Nothing in it is run."""

import codecs
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from grader.core.errors import SubmissionError
from grader.core.language import _
from grader.core.text import clean
from grader.course.course import Assignment, Course, Exercise
from grader.sandbox.failures import stub_message
from grader.submissions.file_names import plain_name
from grader.submissions.notebooks import MAX_BYTES as MAX_NOTEBOOK_BYTES
from grader.submissions.notebooks import MAX_CODE_CHARACTERS, Cell, code_cells

NOT_FOR_FILES = {"punycode", "idna", "unicode-escape", "raw-unicode-escape", "utf-7"}
"""Codecs that no file is written in; two of them take time by the square of a text's length."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as text.

    Args:
        key: its path inside the submission, with `/`.
        module: the name it is imported by.
        importable: whether other files may import it (only the course's own module names).
        cells: its code; one cell without a number for a `.py` file.
        problem: why it could not be read, "" when it could.
        is_refused: whether it was this machine that could not read it, not that it makes no sense.
    """

    key: str
    module: str
    importable: bool
    cells: tuple[Cell, ...]
    problem: str = ""
    is_refused: bool = False

    @property
    def name(self) -> str:
        """The path as people are shown it."""
        return clean(self.key, 200)

    @property
    def text(self) -> str:
        """All its code."""
        return "\n".join(cell.text for cell in self.cells)

    def header(self) -> dict[str, object]:
        """This file as it is sent to the servant."""
        return {
            "module": self.module,
            "importable": self.importable,
            "display": self.key.rpartition("/")[2],
            "cells": [[cell.number, cell.text] for cell in self.cells],
        }


def read_source(course: Course, path: Path, key: str) -> SourceFile:
    """Read a file; what keeps it from being read is its `problem`.

    Args:
        course: the course.
        path: where it lies.
        key: its path inside the submission.
    """
    module = plain_name(path.stem)
    importable = any(module == assignment.module for assignment in course.assignments)
    module = module if importable else path.stem
    is_notebook = path.suffix.lower() == ".ipynb"
    cells: tuple[Cell, ...] = ()
    problem, is_refused = "", False
    try:
        size, most = path.stat().st_size, MAX_NOTEBOOK_BYTES if is_notebook else MAX_CODE_CHARACTERS
        if size > most:
            sentence = _("it has {size} bytes; at most {most} are read")
            raise SubmissionError(sentence.format(size=size, most=most))
        data = path.read_bytes()
        cells = code_cells(data) if is_notebook else (Cell(None, _script(data)),)
    except (SubmissionError, OSError) as error:
        is_refused = isinstance(error, OSError)
        problem = f"{error.strerror}" if isinstance(error, OSError) else str(error)
    return SourceFile(key, module, importable, cells, problem, is_refused)


def _script(data: bytes) -> str:
    try:
        is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if is_wide and not data.startswith(codecs.BOM_UTF32_LE):  # as some editors save it
            data = data.decode("utf-16").encode()
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if codecs.lookup(encoding).name in NOT_FOR_FILES:
                raise LookupError
            text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        problem = _("it is not text in UTF-8; save it again in that encoding")
        raise SubmissionError(problem) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def problem_note(source: SourceFile) -> tuple[str, ...]:
    """Why a file cannot be read, if it cannot."""
    if not source.problem:
        return ()
    note = _("{file} cannot be read: {problem}.")
    return (note.format(file=source.name, problem=source.problem),)


def definitions(
    source: SourceFile, name: str, *, outermost: bool = False
) -> Iterator[tuple[int | None, int]]:
    """The cells and lines in which a file defines a name, by its text, in order.

    Args:
        source: the file.
        name: the name.
        outermost: only as a function or class that stands in no other one.
    """
    escaped = re.escape(name)
    pattern = rf"^[ \t]*(?:def|class)[ \t]+{escaped}\b|^{escaped}[ \t]*[:=]"
    if outermost:
        pattern = rf"^(?:def|class)[ \t]+{escaped}\b"
    for cell in source.cells:
        for match in re.finditer(pattern, cell.text, re.MULTILINE):
            yield cell.number, cell.text.count("\n", 0, match.start()) + 1


def has_stub(source: SourceFile, exercise: Exercise) -> bool:
    """Whether an exercise's stub stands in a file as it was released."""
    return f'"{stub_message(exercise.id)}"' in source.text


def is_written(source: SourceFile, exercise: Exercise) -> bool:
    """Whether a file defines an exercise at its top level, and not by the stub as it was released."""
    name = exercise.name
    pattern = rf"^(?:(?:async )?def|class)[ \t]+{name}\b"
    if name.isupper():
        pattern += rf"|^{name}[ \t]*(?::[^=\n]*)?=(?!=)"
    return (
        not has_stub(source, exercise) and re.search(pattern, source.text, re.MULTILINE) is not None
    )


def may_define(source: SourceFile, assignment: Assignment) -> bool:
    """Whether a file may define an exercise of an assignment; who cannot read it cannot say no."""
    text = source.text
    present = [exercise.name for exercise in assignment.exercises if exercise.name in text]
    if source.problem or not present:
        return bool(source.problem)
    if not _defined(text).isdisjoint(present):
        return True
    names = "|".join(present)
    pattern = rf"^(?![ \t])[\w \t,]*\b(?:{names})\b[\w \t,]*[:=][^=]|^.*\bimport\b.*\b(?:{names})\b"
    return re.search(pattern, text, re.MULTILINE) is not None


@lru_cache(maxsize=100)
def _defined(text: str) -> frozenset[str]:
    """The names of a text's functions and classes, at any depth."""
    found = re.findall(r"^[ \t]*(?:(?:async )?def|class)[ \t]+(\w+)", text, re.MULTILINE)
    return frozenset(found)


def has_own(source: SourceFile, assignment: Assignment, exercise: Exercise) -> bool:
    """Whether a file may define one exercise of an assignment, other than by its stub."""
    return not has_stub(source, exercise) and may_define(
        source, replace(assignment, exercises=(exercise,))
    )
