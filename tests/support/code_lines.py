"""Counts lines of code: imports included; no docstrings, comments or blank lines."""

import ast
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def code_lines(text: str) -> int:
    """How many lines of a module's text hold code."""
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            numbers |= set(range(token.start[0], token.end[0] + 1))
    return len(numbers - set(_lines_of_strings_alone(ast.parse(text))))


def code_lines_in(folder: Path) -> int:
    """How many lines of the modules in a folder and below it hold code."""
    return sum(code_lines(path.read_text("utf-8")) for path in folder.rglob("*.py"))


def _lines_of_strings_alone(tree: ast.Module) -> Iterable[int]:
    """The lines of docstrings, and of what stands below a constant or field to describe it."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), end_lineno=int(end)):
                yield from range(node.lineno, end + 1)
