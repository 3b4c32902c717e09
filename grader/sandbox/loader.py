"""Loads a submission's files where student code runs: cell by cell, keeping what did work.

It runs beside student code: standard library only.
"""

import __future__

import ast
import builtins
import contextlib
import dis
import linecache
import re
import sys
import traceback
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from grader.sandbox.failures import Failure, describe_failure, stub_exercise
from grader.sandbox.placeholders import NotImported, UnavailableError, bound_names, one_by_one

MAX_NAMES = 5_000
"""`from torch import *` alone brings more than a thousand."""

MAGIC = re.compile(r"^\s*[%!?]|^\s*[\w, ]+=\s*[%!]|\?\s*$")
"""A line that IPython understands and Python does not."""

KERNEL_FILE = re.compile(r"ipykernel|^<ipython-input")
"""The file names that a notebook's kernel gives to its cells."""

CELL_MAGICS_THAT_RUN_PYTHON = ("time", "timeit", "capture", "prun", "python", "python3", "debug")


STEPS_OF_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
"""What Python makes of a body that is `pass`, `...` or a docstring alone."""


STAR = "*"
"""Under this name a file has what stands for all that `from … import *` did not bring."""
ANNOTATIONS = __future__.annotations.compiler_flag
COMPOUND = ast.If | ast.For | ast.While | ast.With | ast.Try


@dataclass(slots=True)
class Opened:
    """A loaded file: what it defined, and what failed on the way.

    Args:
        namespace: its names.
        failures: what ended it, or one of its cells.
        not_imported: the imports that failed; what follows them is run.
    """

    namespace: dict[str, Any]
    failures: list[Failure] = field(default_factory=list)
    not_imported: list[Failure] = field(default_factory=list)

    def header(self) -> dict[str, Any]:
        """What is reported to the trusted side: the failures, and the names defined."""
        names = [
            name
            for name, value in list(self.namespace.items())
            if not (
                name.startswith(("_", STAR))
                or name == "display"
                or isinstance(value, types.ModuleType)
            )
        ]
        reported = {"failures": [failure.header() for failure in self.failures[:20]]}
        if self.not_imported:
            reported["not_imported"] = [failure.header() for failure in self.not_imported[:20]]
        return {**reported, "names": names[:MAX_NAMES]}


@dataclass(slots=True)
class Loader:
    """The files of a submission by key, each loaded once, importable from one another.

    A file is `{"module": name, "display": file name, "cells": [[cell number or None, text]],
    "importable": bool}`. An `__import__` of their own handles imports between them, so that
    several submissions can be loaded in one process (solutions with a mistake each).

    Args:
        register: also put loaded files into `sys.modules`, where only one submission is loaded.
        interactive: let Ctrl-C through.
        texts: the files by key.
        opened: those that are loaded.
        modules: the modules of loaded files, by the name that imports them.
        files: for the file name of each code object, the student's file and cell.
        adopted: the key of a namespace that is filled elsewhere, if there is one.
        awaited: the names of the course's modules; a file that lacks one ends there.
    """

    register: bool = False
    interactive: bool = False
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: dict[str, Opened] = field(default_factory=dict)
    modules: dict[str, types.ModuleType] = field(default_factory=dict)
    files: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    adopted: str = ""
    awaited: set[str] = field(default_factory=set)

    def add(self, texts: Mapping[str, dict[str, Any]], awaited: Iterable[str] = ()) -> None:
        """Make these files known, and what the course's modules are called; none is run yet."""
        self.texts.update(texts)
        self.awaited.update(awaited)

    def adopt(self, key: str, namespace: dict[str, Any]) -> None:
        """Treat a namespace that is filled elsewhere (by a notebook's kernel) as a loaded file."""
        self.opened[key] = Opened(namespace)
        self.adopted = key

    def find_cell(self, filename: str) -> tuple[str, int | None] | None:
        """The student's file, and in a notebook the cell, for the file name of a code object."""
        found = self.files.get(filename)
        if found is None and self.adopted and KERNEL_FILE.search(filename):
            return self.adopted, None
        return found

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

    def _import(self, name: str, *rest: Any, **named: Any) -> types.ModuleType:
        """Python's `__import__`, which looks among the submission's own files first."""
        for key, source in self.texts.items():
            if source["module"] == name and source.get("importable"):
                self.open(key)
                return self.modules[name]
        return __import__(name, *rest, **named)

    # Running a file.

    def _run(self, source: Mapping[str, Any], opened: Opened) -> None:
        flags = 0
        for number, text in source["cells"]:
            label = source["display"] if number is None else f"{source['display']} cell {number}"
            filename = f"<{label}>"
            if filename in self.files:  # two folders may hold files of one name
                filename = f"<{label} #{len(self.files)}>"
            self.files[filename] = (source["display"], number)
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
            statements, broken = _statements(text, filename, is_cell=number is not None)
            for statement in chain.from_iterable(map(one_by_one, statements)):
                flags |= _future_flags(statement)
                if not self._run_statement(statement, filename, flags, opened):
                    break
            if broken is not None:
                opened.failures.append(describe_failure(broken, self.find_cell))

    def _run_statement(
        self, statement: ast.stmt, filename: str, flags: int, opened: Opened
    ) -> bool:
        """Run one statement; return whether the next ones are to be run as well."""
        try:
            try:
                _execute(statement, filename, flags, opened)
            except UnavailableError:
                # What only an annotation needs is not needed.
                _execute(statement, filename, flags | ANNOTATIONS, opened)
        except BaseException as error:
            if self.interactive and isinstance(error, KeyboardInterrupt):
                raise
            if isinstance(error, NameError) and STAR in opened.namespace:
                unknown = opened.namespace[STAR].error()
                unknown.name = error.name
                error = unknown.with_traceback(error.__traceback__)
            cause = self._not_imported(error)
            if cause is not None:
                _stand_in(statement, cause, opened)
                return True
            if isinstance(error, ImportError) and _is_defined(statement, filename):
                return True
            failure = describe_failure(error, self.find_cell)
            opened.failures.append(failure)
            return isinstance(error, NotImplementedError) and bool(stub_exercise(failure.message))
        return True

    def _not_imported(self, error: BaseException) -> Failure | None:
        """Why an import failed that need not end a file; None for any other failure."""
        if not isinstance(error, ImportError):
            return None
        cause = describe_failure(error, self.find_cell)
        name = str(error.name).partition(".")[0]
        is_own = any(s["importable"] and s["module"] == name for s in self.texts.values())
        if isinstance(error, UnavailableError) or not (is_own or name in self.awaited):
            return cause
        return None


def _execute(statement: ast.stmt, filename: str, flags: int, opened: Opened) -> None:
    tree = ast.Module([statement], [])
    code = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    exec(code, opened.namespace)


def _stand_in(statement: ast.stmt, cause: Failure, opened: Opened) -> None:
    """Let the names that a statement was to set stand for what could not be imported."""
    is_import = isinstance(statement, ast.Import | ast.ImportFrom)
    if is_import:
        opened.not_imported.append(cause)
    for name in bound_names(statement):
        if not isinstance(statement, COMPOUND) or name not in opened.namespace:
            opened.namespace[name] = NotImported(name, cause)


def _is_defined(statement: ast.stmt, filename: str) -> bool:
    """Whether the file itself defines what a statement was to import."""
    text = "".join(linecache.getlines(filename))
    names = [re.escape(name) for name in bound_names(statement)]
    return isinstance(statement, ast.ImportFrom) and all(
        re.search(rf"^(?:class|def)[ \t]+{name}\b", text, re.MULTILINE) for name in names
    )


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


def empty_body(target: object) -> str:
    """Whether a function, or a module's `forward`, has a body that does nothing.

    Returns:
        "unindented" where code that may be its own stands below it without indentation, "empty"
        for any other that does nothing, "" for one that does something.
    """
    is_function = isinstance(target, types.FunctionType)
    code = getattr(target if is_function else getattr(target, "forward", None), "__code__", None)
    if not isinstance(code, types.CodeType):
        return ""
    if {step.opname for step in dis.get_instructions(code)} - STEPS_OF_NOTHING:
        return ""
    nodes, _error = _parse("".join(linecache.getlines(code.co_filename)), code.co_filename)
    for node, below in pairwise(nodes):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return "unindented" if _is_loose(below) else "empty"
    return "empty"


def hides_code(error: BaseException) -> bool:
    """Whether statements stand below the `raise` of an error, in the same block."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    nodes, _error = _parse("".join(linecache.getlines(frame.filename)), frame.filename)
    blocks = (
        block
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(block := getattr(inner, "body", None), list)
    )
    return any(
        isinstance(statement, ast.Raise) and statement.lineno <= (frame.lineno or 0) < below.lineno
        for block in blocks
        for statement, below in pairwise(block)
    )


def _is_loose(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a file looks as if it belonged into a function."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id.islower() for t in statement.targets)
    return isinstance(statement, ast.Return | ast.For | ast.While | ast.AugAssign)


def _parse(text: str, filename: str) -> tuple[list[ast.stmt], BaseException | None]:
    """The statements of a text, or the error that stopped the parser."""
    try:
        return ast.parse(text, filename).body, None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [], error


def _statements(
    text: str, filename: str, *, is_cell: bool
) -> tuple[list[ast.stmt], BaseException | None]:
    """The statements that can be run, and the error that stopped the parser, if any."""
    found, first_error = _parse(text, filename)
    if first_error is None:
        return found, None
    if is_cell:
        return _parse(without_magics(text), filename)
    lines = text.splitlines()
    line = getattr(first_error, "lineno", None) or len(lines)
    # Walk back over the starts of top-level statements until the rest can be parsed.
    for end in range(min(line, len(lines)) - 1, 0, -1):
        if lines[end][:1] not in ("", " ", "\t", ")", "]", "}", "#"):
            found, error = _parse("\n".join(lines[:end]), filename)
            if error is None:
                is_cut = end == line - 1 and _is_cut(found, lines[end:])
                return found[:-1] if is_cut else found, first_error
    return [], first_error


def _is_cut(found: list[ast.stmt], rest: list[str]) -> bool:
    """Whether the line that ended a file stands inside the last definition above it.

    Args:
        found: the statements above the line.
        rest: the line, and those below it.
    """
    if not found or not isinstance(found[-1], ast.FunctionDef | ast.ClassDef):
        return False
    last = found[-1].body[-1]
    has_code = not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant))
    below = next((line for line in rest[1:] if line.strip()), "")
    is_mark = rest[0][:7] in ("<" * 7, "=" * 7, ">" * 7)  # of Git's
    return (is_mark and below[:1] in (" ", "\t")) or not has_code


def without_magics(text: str) -> str:
    """A notebook cell with its magics and shell lines blanked; line numbers stay.

    A line is blanked only where Python cannot parse it: a comment that ends in a question mark,
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
        _found, error = _parse("\n".join(lines), "<cell>")
        index = (getattr(error, "lineno", None) or 0) - 1
        if not 0 <= index < len(lines) or not MAGIC.search(lines[index]):
            break
        indentation = len(lines[index]) - len(lines[index].lstrip())
        lines[index] = lines[index][:indentation] + "pass"
    return "\n".join(lines)


def _future_flags(statement: ast.stmt) -> int:
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
        return 0
    features = [getattr(__future__, alias.name, None) for alias in statement.names]
    return sum(feature.compiler_flag for feature in features if feature is not None)
