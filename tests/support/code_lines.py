"""Counts lines of code: imports included; no docstrings, comments or blank lines."""

import ast
from collections.abc import Iterable
from pathlib import Path


def code_lines(text: str) -> int:
    """How many lines of a module's text hold code."""
    tree = ast.parse(text)
    lines = enumerate(text.splitlines(), start=1)
    written = {n for n, line in lines if line.strip() and not line.lstrip().startswith("#")}
    return len((written | set(_lines_of(tree))) - set(_lines_of_strings_alone(tree)))


def code_lines_in(folder: Path) -> int:
    """How many lines of the modules in a folder and below it hold code."""
    return sum(code_lines(path.read_text("utf-8")) for path in folder.rglob("*.py"))


def _lines_of(tree: ast.Module) -> Iterable[int]:
    """All lines of long texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            yield from range(node.lineno, (node.end_lineno or 0) + 1)


def _lines_of_strings_alone(tree: ast.Module) -> Iterable[int]:
    """The lines of docstrings, and of what stands below a constant or field to describe it."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), end_lineno=int(end)):
                yield from range(node.lineno, end + 1)
