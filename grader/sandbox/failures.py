"""Failures of student code as data: what was raised, and at which of the student's own lines.

It runs beside student code: standard library only.
"""

import ast
import difflib
import inspect
import linecache
import re
import traceback
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

from grader.sandbox.placeholders import UnavailableError

MAX_MESSAGE = 2_000

FindCell = Callable[[str], tuple[str, int | None] | None]
"""From the file name of a code object to the student's file and cell; None for other code."""

IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    **{
        name: f"from typing import {name}"
        for name in ("Optional", "List", "Tuple", "Dict", "Union", "Any", "Callable", "Literal")
    },
}
"""What is written at the top of a file for a name that many files have."""

REDUCTION = re.compile(r"\b(?:sum|mean|amax|amin|max|min|norm|var|std|logsumexp)\(")
"""What takes an axis away."""

STUB_MESSAGE = re.compile(r"(\S+): not attempted yet")


def stub_message(exercise: str) -> str:
    """The message of the `NotImplementedError` in an exercise's stub."""
    return f"{exercise}: not attempted yet"


def stub_exercise(message: str) -> str | None:
    """The exercise whose stub has this message; None for any other message."""
    found = STUB_MESSAGE.fullmatch(message)
    return found[1] if found else None


class OutOfTime(BaseException):
    """Raised into student code when its time is up, so that its line can be reported."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the student's own, as their process reports it.

    Args:
        cell: the notebook's cell, counted from 1; None in a script.
        line: counted from 1; in a notebook, inside the cell.
        text: the line itself; with its indentation where the error is one of syntax.
        column: where in the text an error of syntax is, counted from 1.
    """

    file: str
    cell: int | None
    line: int
    text: str
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request, or the loading of a file, failed.

    Args:
        kind: "exception", "not_attempted", "out_of_memory", "timeout" or, of a statement that ended
            an earlier process, "crashed".
        type: the name of the exception's class.
        bases: the names of its built-in base classes, nearest first.
        message: its text (for "not_attempted", the exercise of the stub; for "crashed", the exit
            status).
        where: the student's own line; None when it is not in their files.
        own: whether the exception was raised by the student's own line, not below it.
        wrote: for an unknown name or attribute, the name; "" where nothing is proposed.
        meant: what may have been meant: another name, `self.name`, or an import.
            Of a name that could not be imported, the name again.
            Of a module whose `forward` is not found, what it stands in instead: a method of
            its class, or `module` for nothing. Of a tuple of one value its own name.
        set_at: where the name, or `__init__` the attribute, is set that may have been meant; where
            such a `forward` stands, or the comma that makes such a tuple. Of sizes that do not go
            together, where a name of the line is set by a sum or a maximum.
        in_text: which of the two the text around them has in backticks, if one alone.
        called: the student's own line that led there, the last in the file that was called, where that is
            another one.
    """

    kind: str
    type: str
    bases: tuple[str, ...]
    message: str
    where: CodeLine | None = None
    own: bool = False
    wrote: str = ""
    meant: str = ""
    set_at: CodeLine | None = None
    in_text: str = ""
    called: CodeLine | None = None

    def header(self) -> dict[str, Any]:
        """This failure as a JSON object."""
        return {**asdict(self), "bases": list(self.bases)}

    def as_stub(self) -> "Failure":
        """The same failure; with a stub's message it becomes "not attempted"."""
        exercise = stub_exercise(self.message)
        if exercise is None:
            return self
        return Failure("not_attempted", self.type, self.bases, exercise, self.where)


def describe_failure(error: BaseException, find_cell: FindCell) -> Failure:
    """A failure as data, with the last of the student's own lines."""
    where, own, called = _where(error, find_cell)
    if isinstance(error, UnavailableError):
        return _unavailable(error, where)
    message = _message(error)
    is_memory = isinstance(error, MemoryError) or "can't allocate memory" in message
    kind = "out_of_memory" if is_memory else "exception"
    if isinstance(error, OutOfTime):
        kind = "timeout"
    bases = tuple(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")
    wrote, meant, set_at, in_text = "", "", None, ""
    with suppress(BaseException):  # it looks at the student's objects
        wrote, meant = _proposal(error)
        set_at, in_text = _where_set(error, wrote, meant, find_cell)
    with suppress(BaseException):
        if isinstance(error, NotImplementedError) and "forward" in message:
            wrote, meant, set_at = _misplaced_forward(error, find_cell)
        elif "tuple" in message and not meant:
            wrote, set_at = _tuple_of_one(error, find_cell)
            meant = wrote
        elif "must match the size of tensor" in message:
            set_at = _reduced(error, find_cell)
        elif isinstance(error, NameError) and (below := _defined_below(error, find_cell)):
            wrote = meant = str(error.name)
            set_at = below
    type_name, found = type(error).__name__[:200], (wrote, meant, set_at, in_text)
    return Failure(kind, type_name, bases, message, where, own, *found, called)


def stopped_at(why: str, filename: str, line: int, find_cell: FindCell) -> Failure:
    """The failure of a statement that ended an earlier process, and is not run again.

    Args:
        why: "timeout", or else the exit status of that process.
        filename: that of its code.
        line: counted from 1.
        find_cell: finds the student's own code.
    """
    found = find_cell(filename) or (filename, None)
    where = _code_line(found, line, linecache.getline(filename, line))
    if why == "timeout":
        return Failure(why, OutOfTime.__name__, ("BaseException",), "out of time", where, True)
    return Failure("crashed", "", (), why, where, True)


def _unavailable(error: UnavailableError, where: CodeLine | None) -> Failure:
    """Why an import failed, told at the line that uses what it was to bring."""
    cause: Failure = error.cause
    if where is None or "ImportError" not in cause.bases:
        return cause
    set_at, name = cause.set_at or cause.where, str(error.name)
    return replace(cause, where=where, own=False, wrote=name, meant=name, set_at=set_at)


def closest(name: str, names: Iterable[str]) -> str:
    """The name that looks most like another one, whatever the case of its letters; "" for none."""
    lowered = {known.lower(): known for known in names if isinstance(known, str) and known != name}
    cutoff = 0.75 if len(name) > 2 else 1.0
    found = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[found[0]] if found else ""


def shortened(name: str, names: Iterable[str]) -> str:
    """The one name that looks like another one, or shortens it: `Wq` for `W_query`."""

    def letters(text: str) -> str:
        return text.replace("_", "").lower()

    def is_short(one: str, other: str) -> bool:
        rest = iter(letters(other))  # each `in` reads on from where the last one ended
        is_inside = all(letter in rest for letter in letters(one))
        return len(letters(one)) > 1 and letters(other)[:1] == letters(one)[0] and is_inside

    short = [known for known in names if is_short(known, name) or is_short(name, known)]
    return short[0] if len(short) == 1 else closest(name, names)


def renamed(name: str, names: Iterable[str], alike: Callable[[str, Iterable[str]], str]) -> str:
    """The full name that differs from another one in a single part, where these are alike; "" for none.

    Args:
        name: such as `h.0.mlp.c_fc`.
        names: others.
        alike: finds the part that looks like another one.
    """
    parts, same = (
        name.split("."),
        {n: n.split(".") for n in names if n.count(".") == name.count(".")},
    )
    for place in reversed(range(len(parts))):
        around = [*parts[:place], *parts[place + 1 :]]
        near = {o[place]: n for n, o in same.items() if [*o[:place], *o[place + 1 :]] == around}
        if found := alike(parts[place], [part for part in near if not part.isdigit()]):
            return near[found]
    return ""


def _proposal(error: BaseException) -> tuple[str, str]:
    """A name that is not known, and what may have been meant, as newer Pythons propose it."""
    name = getattr(error, "name", None)
    if not isinstance(name, str) or not isinstance(error, NameError | AttributeError):
        return "", ""
    if isinstance(error, AttributeError):
        meant = closest(name, dir(error.obj)) or shortened(name, _own_names(error.obj))
        return (name, meant) if meant else ("", "")
    frames = [frame for frame, _line in traceback.walk_tb(error.__traceback__)]
    frame = frames[-1]
    for outer in frames[-2:]:  # a comprehension has a frame of its own
        if "self" in outer.f_locals and name in dir(outer.f_locals["self"]):
            return name, f"self.{name}"
    known = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
    running = {each.f_code.co_name for each in frames}  # what it is in, it hardly means to call
    meant = IMPORTS.get(name) or closest(name, known.keys() - running)
    return (name, meant) if meant and name not in known else ("", "")


def _own_names(instance: Any) -> list[str]:
    """The names that code has given to what an instance holds; a module keeps its parts apart."""
    held = vars(instance)
    parts = (held.get(part, ()) for part in ("_parameters", "_modules", "_buffers"))
    names = [*held, *chain.from_iterable(parts)]
    return [name for name in names if not name.startswith("_") and name != "training"]


def _where_set(
    error: BaseException, wrote: str, meant: str, find_cell: FindCell
) -> tuple[CodeLine | None, str]:
    """Where the name that may have been meant is set, and which of the two the text names.

    Args:
        error: the attribute or the name is unknown.
        wrote: the one that is unknown.
        meant: the one that may have been meant.
        find_cell: finds the student's own code.
    """
    assigned = rf"{meant}\s*(?::[^=]+)?=(?!=)"
    setting, codes, in_text = re.compile(rf"^\s*{assigned}|\bfor {meant} in\b"), [], ""
    if isinstance(error, AttributeError):
        setting = re.compile(rf"\bself\.{assigned}|register_\w+\(\s*['\"]{meant}['\"]")
        methods = [vars(kind).get("__init__") for kind in type(error.obj).__mro__]
        codes = [code for method in methods if (code := getattr(method, "__code__", None))]
    elif meant:
        codes = [frame.f_code for frame, _line in traceback.walk_tb(error.__traceback__)][-1:]
    for code in codes if meant else ():
        found, lines = find_cell(code.co_filename), linecache.getlines(code.co_filename)
        if found is None:
            continue
        first = code.co_firstlineno
        for line, shown in enumerate(inspect.getblock(lines[first - 1 :]), first):
            if setting.search(shown):
                if isinstance(error, AttributeError):
                    in_text = _in_text("".join(lines), wrote, meant)
                return _code_line(found, line, shown), in_text
    return None, ""


def _defined_below(error: NameError, find_cell: FindCell) -> CodeLine | None:
    """Where a file defines a name that a line above it uses already."""
    *_others, (frame, used) = traceback.walk_tb(error.__traceback__)
    filename = frame.f_code.co_filename
    definition = re.compile(rf"(?:class|def)\s+{error.name}\b|{error.name}\s*=(?!=)")
    for line, text in enumerate(linecache.getlines(filename)[used:], used + 1):
        if definition.match(text) and (found := find_cell(filename)):
            return _code_line(found, line, text)
    return None


def _misplaced_forward(
    error: BaseException, find_cell: FindCell
) -> tuple[str, str, CodeLine | None]:
    """Where a `forward` stands that its class lacks: in another of its methods, or outside."""
    *_others, (frame, _line) = traceback.walk_tb(error.__traceback__)
    kind = type(frame.f_locals["self"])
    filename = kind.__init__.__code__.co_filename
    text, found = "".join(linecache.getlines(filename)), find_cell(filename)
    tree = ast.parse(text)
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == kind.__name__]
    methods = [m for c in classes[-1:] for m in c.body if isinstance(m, ast.FunctionDef)]
    inside = [(method.name, node) for method in methods for node in ast.walk(method)]
    for name, node in (*inside, *(("module", node) for node in tree.body)):
        if found and isinstance(node, ast.FunctionDef) and node.name == "forward":
            line = _code_line(found, node.lineno, linecache.getline(filename, node.lineno))
            return "forward", name, line
    return "", "", None


def _tuple_of_one(error: BaseException, find_cell: FindCell) -> tuple[str, CodeLine | None]:
    """The name of a tuple of one value in the line that failed, and the comma that made it one."""
    own = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if find_cell(frame.f_code.co_filename) is not None
    ]
    frame, line = own[-1]
    text = linecache.getline(frame.f_code.co_filename, line)
    held = getattr(frame.f_locals.get("self"), "__dict__", {})
    for name in re.findall(r"(?:\bself\.)?\b\w+\b", text):
        part = name.removeprefix("self.")
        value = frame.f_locals.get(name) if part == name else held.get(part)
        if type(value) is tuple and len(value) == 1:
            code = frame.f_code
            if part != name:
                code = type(frame.f_locals["self"]).__init__.__code__
            return part, _comma_line(code, name, find_cell)
    return "", None


def _reduced(error: BaseException, find_cell: FindCell) -> CodeLine | None:
    """Where a name in the line that failed is set by what takes an axis away."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        code = frame.f_code
        found, lines = find_cell(code.co_filename), linecache.getlines(code.co_filename)
        if found is not None:
            names = "|".join(re.findall(r"\b[^\W\d]\w*\b", lines[line - 1]))
            setting = re.compile(rf"^\s*(?:{names})\s*=(?!=)")
            for number in range(line - 1, code.co_firstlineno, -1):
                if setting.search(lines[number - 1]) and REDUCTION.search(lines[number - 1]):
                    return _code_line(found, number, lines[number - 1])
            return None
    return None


def _comma_line(code: types.CodeType, name: str, find_cell: FindCell) -> CodeLine | None:
    """The last line of a function that sets a name to a tuple of one value."""
    found, lines = find_cell(code.co_filename), linecache.getlines(code.co_filename)
    first, numbers = code.co_firstlineno, []
    after = first + len(inspect.getblock(lines[first - 1 :]))
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            is_it = len(node.value.elts) == 1 and name in map(ast.unparse, node.targets)
            if is_it and first <= node.lineno < after:
                numbers.append(node.end_lineno or 0)
    if not numbers or found is None:
        return None
    return _code_line(found, max(numbers), lines[max(numbers) - 1])


def _in_text(text: str, *names: str) -> str:
    """The name that stands in backticks in a text, if it is one of these alone."""
    found = [name for name in names if f"`{name}`" in text]
    return found[0] if len(found) == 1 else ""


def _where(
    error: BaseException, find_cell: FindCell
) -> tuple[CodeLine | None, bool, CodeLine | None]:
    """The last of the student's own lines, whether it raised the error, and what led there.

    That is the last line before it in the file that was called: the first may only lead to it.
    """
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        found = find_cell(error.filename)
        if found is not None:
            return _syntax_line(error, found), True, None
    frames = traceback.extract_tb(error.__traceback__)
    own = [(frame, found) for frame in frames if (found := find_cell(frame.filename))]
    if not own:
        return None, False, None
    lines = [_code_line(found, frame.lineno, frame.line) for frame, found in own]
    # For an endless loop, the line that began it says more than the line that was running.
    if isinstance(error, OutOfTime):
        return lines[0], own[0][0] is frames[-1], None
    callers = [line for line in lines if line.file == lines[0].file and line != lines[-1]]
    return lines[-1], own[-1][0] is frames[-1], callers[-1] if callers else None


def _code_line(found: tuple[str, int | None], line: int | None, text: str | None) -> CodeLine:
    return CodeLine(*found, line=line or 0, text=(text or "").strip()[:200])


def _syntax_line(error: SyntaxError, found: tuple[str, int | None]) -> CodeLine:
    line = error.lineno if isinstance(error.lineno, int) else 0
    text = error.text if isinstance(error.text, str) else ""
    if not text and isinstance(error.filename, str):  # as the compiler leaves it
        text = linecache.getline(error.filename, line)
    column = error.offset if type(error.offset) is int else None
    return CodeLine(*found, line, text.partition("\n")[0].rstrip()[:200], column)


def _message(error: BaseException) -> str:
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
        return str.__getitem__(text, slice(MAX_MESSAGE))
    except BaseException:
        return "(its message could not be read)"
