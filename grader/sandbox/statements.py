"""The statements of a script or a notebook's cell: which can be run, and what functions are made of.

It runs beside student code: standard library only.
"""

import __future__

import ast
import dis
import linecache
import re
import sys
import traceback
import types
from itertools import pairwise

MAGIC = re.compile(r"^\s*[%!?]|^\s*[\w, ]+=\s*[%!]|\?\s*$")
"""A line that IPython understands and Python does not."""

MARKS_OF_GIT = ("<" * 7, "=" * 7, ">" * 7)
"""How lines begin that Git leaves where two versions of a file do not fit together."""

SLOW_PARTS = ast.Call | ast.ListComp | ast.SetComp | ast.DictComp | ast.BinOp | ast.Subscript

CELL_MAGICS_THAT_RUN_PYTHON = ("time", "timeit", "capture", "prun", "python", "python3", "debug")


def parse(text: str, filename: str) -> tuple[list[ast.stmt], BaseException | None]:
    """The statements of a text, or the error that stopped the parser."""
    try:
        return ast.parse(text, filename).body, None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [], error


def statements_of(
    text: str, filename: str, *, is_cell: bool
) -> tuple[list[ast.stmt], BaseException | None]:
    """The statements that can be run, and the error that stopped the parser, if any."""
    found, first_error = parse(text, filename)
    if first_error is None:
        return found, None
    if is_cell:
        return parse(without_magics(text), filename)
    lines = text.splitlines()
    line = getattr(first_error, "lineno", None) or len(lines)
    # Walk back over the starts of top-level statements until the rest can be parsed.
    for end in range(min(line, len(lines)) - 1, 0, -1):
        if lines[end][:1] not in ("", " ", "\t", ")", "]", "}", "#"):
            found, error = parse("\n".join(lines[:end]), filename)
            if error is None:
                is_it = end == line - 1 or lines[end].startswith(MARKS_OF_GIT)
                is_cut = is_it and _is_cut(found, lines[end:])
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
    is_mark = rest[0].startswith(MARKS_OF_GIT)
    is_indented = rest[0][:1].isspace()  # by a character that is no space to Python
    return (is_mark and below[:1] in (" ", "\t")) or is_indented or not has_code


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
        _found, error = parse("\n".join(lines), "<cell>")
        index = (getattr(error, "lineno", None) or 0) - 1
        if not 0 <= index < len(lines) or not MAGIC.search(lines[index]):
            break
        indentation = len(lines[index]) - len(lines[index].lstrip())
        lines[index] = lines[index][:indentation] + "pass"
    return "\n".join(lines)


def future_flags(statement: ast.stmt) -> int:
    """The flags of the compiler that a statement sets for what follows."""
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
        return 0
    features = [getattr(__future__, alias.name, None) for alias in statement.names]
    return sum(feature.compiler_flag for feature in features if feature is not None)


def is_harmless(statement: ast.stmt) -> bool:
    """Whether no process ends by a statement: a function, a text, an import of what is imported."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module in sys.modules and not statement.level
    if isinstance(statement, ast.Import):
        return all(alias.name in sys.modules for alias in statement.names)
    if isinstance(statement, ast.FunctionDef):
        return not statement.decorator_list
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_quick(statement: ast.stmt) -> bool:
    """Whether a statement takes no time: a definition, an import, a name for a plain value."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return not any(isinstance(node, SLOW_PARTS) for node in ast.walk(statement))
    return isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)


STEPS_OF_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
"""What Python makes of a body that is `pass`, `...` or a docstring alone."""


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
    nodes, _error = parse("".join(linecache.getlines(code.co_filename)), code.co_filename)
    for node, below in pairwise(nodes):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return "unindented" if _is_loose(below) else "empty"
    return "empty"


def hides_code(error: BaseException) -> bool:
    """Whether statements stand below the `raise` of an error, in the same block."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    nodes, _error = parse("".join(linecache.getlines(frame.filename)), frame.filename)
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
