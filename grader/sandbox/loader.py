"""Loads a submission's files where student code runs: cell by cell, keeping what did work.

Part of the servant: it imports the standard library and torch only.
"""

import __future__

import ast
import builtins
import contextlib
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_MESSAGE = 2_000
MAX_NAMES = 5_000
"""`from torch import *` alone brings more than a thousand."""

MAGIC = re.compile(r"^\s*[%!?]|^\s*[\w, ]+=\s*[%!]|\?\s*$")
"""A line that IPython understands and Python does not."""

KERNEL_FILE = re.compile(r"ipykernel|^<ipython-input")
"""The file names that a notebook's kernel gives to its cells."""

PlaceOf = Callable[[str], tuple[str, int | None] | None]

CELL_MAGICS_THAT_RUN_PYTHON = ("time", "timeit", "capture", "prun", "python", "python3", "debug")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request, or the loading of a file, did not end well.

    Args:
        kind: "exception", "not_attempted", "out_of_memory" or "timeout".
        type: the name of the exception's class.
        bases: the names of its built-in base classes, nearest first.
        message: its text (for "not_attempted", the exercise of the stub).
        where: the student's own line, as `CodeLine.header`; None when it is not in their files.
        own: whether the exception was raised by the student's own line, not below it.
    """

    kind: str
    type: str
    bases: tuple[str, ...]
    message: str
    where: dict[str, Any] | None = None
    own: bool = False

    def header(self) -> dict[str, Any]:
        """This failure as a JSON object."""
        return {
            "kind": self.kind,
            "type": self.type,
            "bases": list(self.bases),
            "message": self.message,
            "where": self.where,
            "own": self.own,
        }


class OutOfTime(BaseException):
    """Raised into student code when its time is up, so that its line can be told."""


@dataclass(slots=True)
class Opened:
    """A loaded file: what it defined, and what went wrong on the way."""

    namespace: dict[str, Any]
    failures: list[Failure] = field(default_factory=list)

    def header(self) -> dict[str, Any]:
        """What the trusted side learns: the failures, and the names defined."""
        names = [
            name
            for name, value in list(self.namespace.items())
            if not name.startswith("_")
            and not isinstance(value, types.ModuleType)
            and name != "display"
        ]
        return {
            "failures": [failure.header() for failure in self.failures[:20]],
            "names": names[:MAX_NAMES],
        }


@dataclass(slots=True)
class Loader:
    """The files of a submission by key, each loaded once, importable from one another.

    A source is `{"module": name, "display": file name, "cells": [[cell number or None, text]],
    "importable": bool}`. Imports between them are answered by an `__import__` of their own, so
    that several submissions can be loaded in one process (solutions with a mistake each).

    Args:
        interactive: let Ctrl-C through.
        register: also put loaded files into `sys.modules`, where only one submission is loaded.
    """

    register: bool = False
    interactive: bool = False
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: dict[str, Opened] = field(default_factory=dict)
    modules: dict[str, types.ModuleType] = field(default_factory=dict)
    files: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    adopted: str = ""

    def add(self, texts: Mapping[str, dict[str, Any]]) -> None:
        """Make these files known; none is run yet."""
        self.texts.update(texts)

    def adopt(self, key: str, namespace: dict[str, Any]) -> None:
        """Take a namespace that is filled elsewhere (a notebook's kernel) for a loaded file."""
        self.opened[key] = Opened(namespace)
        self.adopted = key

    def place_of(self, filename: str) -> tuple[str, int | None] | None:
        """The file, and in a notebook the cell, that code of this file name stands in."""
        if self.adopted and KERNEL_FILE.search(filename):
            return self.adopted, None
        return self.files.get(filename)

    def open(self, key: str) -> Opened:
        """Load a file, once."""
        if key not in self.opened:
            source = self.texts[key]
            importable = bool(source.get("importable"))
            name = source["module"] if importable else f"submitted_{source['module']}"
            module = types.ModuleType(name)
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            module.__dict__["__file__"] = source["display"]
            module.__dict__["display"] = lambda *_, **__: None
            self.modules[name] = module
            opened = self.opened[key] = Opened(module.__dict__)
            with _known_by_name(name, module):
                self._run(source, opened)
            if self.register:
                sys.modules[name] = module
        return self.opened[key]

    def _import(
        self,
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        """Python's `__import__`, which looks among the submission's own files first."""
        for key, source in self.texts.items():
            if source["module"] == name and source.get("importable"):
                self.open(key)
                return self.modules[name]
        return __import__(name, globals_, locals_, fromlist or (), level)

    # Running a file.

    def _run(self, source: Mapping[str, Any], opened: Opened) -> None:
        flags = 0
        for number, text in source["cells"]:
            place = source["display"] if number is None else f"{source['display']} cell {number}"
            filename = f"<{place}>"
            if filename in self.files:  # two folders may hold files of one name
                filename = f"<{place} #{len(self.files)}>"
            self.files[filename] = (source["display"], number)
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
            statements, broken = _statements(text, filename, is_cell=number is not None)
            for statement in statements:
                flags |= _future_flags(statement)
                if not self._run_statement(statement, filename, flags, opened):
                    break
            if broken is not None:
                opened.failures.append(describe_failure(broken, self.place_of))

    def _run_statement(
        self, statement: ast.stmt, filename: str, flags: int, opened: Opened
    ) -> bool:
        """Run one statement; whether the ones after it are to be run as well."""
        try:
            code = compile(
                ast.Module([statement], []), filename, "exec", flags=flags, dont_inherit=True
            )
            exec(code, opened.namespace)
        except BaseException as error:
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            opened.failures.append(describe_failure(error, self.place_of))
            is_stub = isinstance(error, NotImplementedError)
            return is_stub and str(error).endswith(": not attempted yet")
        return True


@contextlib.contextmanager
def _known_by_name(name: str, module: types.ModuleType) -> Iterator[None]:
    """Let `dataclasses` and `typing` find a module by its name while it is loaded."""
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before


def _statements(
    text: str, filename: str, *, is_cell: bool
) -> tuple[list[ast.stmt], BaseException | None]:
    """The statements that can be run, and the error that stopped the reading, if any."""
    try:
        return ast.parse(text, filename).body, None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        first_error = error
    if is_cell:
        try:
            return ast.parse(without_magics(text), filename).body, None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return [], error
    lines = text.splitlines()
    line = getattr(first_error, "lineno", None) or len(lines)
    # Walk back over the starts of top-level statements until what is left can be read.
    for end in range(min(line, len(lines)) - 1, 0, -1):
        if lines[end][:1] in ("", " ", "\t", ")", "]", "}", "#"):
            continue
        try:
            return ast.parse("\n".join(lines[:end]), filename).body, first_error
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return [], first_error


def without_magics(text: str) -> str:
    """A notebook cell with its magics and shell lines blanked; line numbers stay.

    A line is looked at only where Python cannot read on: a comment that ends in a question mark,
    or a modulo at the start of a line, is the student's code.
    """
    lines = text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        words = lines[first][2:].split() or [""]
        if words[0] not in CELL_MAGICS_THAT_RUN_PYTHON:
            return ""
        lines[first] = ""
    for _ in range(len(lines)):
        index = _broken_line("\n".join(lines))
        if not 0 <= index < len(lines) or not MAGIC.search(lines[index]):
            break
        lines[index] = _blanked(lines[index])
    return "\n".join(lines)


def _broken_line(text: str) -> int:
    """The line, from 0, at which Python cannot read on; -1 where it can, or says no line."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return (getattr(error, "lineno", None) or 0) - 1
    return -1


def _blanked(line: str) -> str:
    """A line of the same indentation that does nothing."""
    return line[: len(line) - len(line.lstrip())] + "pass"


def _future_flags(statement: ast.stmt) -> int:
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
        return 0
    features = [getattr(__future__, alias.name, None) for alias in statement.names]
    return sum(feature.compiler_flag for feature in features if feature is not None)


def describe_failure(error: BaseException, place_of: PlaceOf) -> Failure:
    """A failure as data, with the last of the student's own lines."""
    where, own = _where(error, place_of)
    message = _message(error)
    bases = tuple(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")
    return Failure(_kind(error, message), type(error).__name__[:200], bases, message, where, own)


def _where(error: BaseException, place_of: PlaceOf) -> tuple[dict[str, Any] | None, bool]:
    """The last of the student's own lines, and whether the error was raised right there."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        found = place_of(error.filename)
        if found is not None:
            line = error.lineno if isinstance(error.lineno, int) else 0
            return _place(found, line, error.text if isinstance(error.text, str) else ""), True
    frames = traceback.extract_tb(error.__traceback__)
    # For a loop that never ends, the line that began it tells more than where it happened to be.
    for frame in frames if isinstance(error, OutOfTime) else reversed(frames):
        found = place_of(frame.filename)
        if found is not None:
            return _place(found, frame.lineno, frame.line), frame is frames[-1]
    return None, False


def _place(found: tuple[str, int | None], line: int | None, text: str | None) -> dict[str, Any]:
    display, cell = found
    return {"file": display, "cell": cell, "line": line or 0, "text": (text or "").strip()[:200]}


def _kind(error: BaseException, message: str) -> str:
    if isinstance(error, OutOfTime):
        return "timeout"
    if isinstance(error, MemoryError) or "can't allocate memory" in message:
        return "out_of_memory"
    return "exception"


def _message(error: BaseException) -> str:
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
        text = str.__getitem__(text, slice(MAX_MESSAGE))
    except BaseException:
        return "(its message could not be read)"
    return text
