"""What a function takes, and where it writes into it."""

import ast
import inspect
import linecache
import textwrap
from typing import Any

from grader.sandbox.failures import CodeLine, FindCell

LISTS_OWN = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"})
"""The methods of a list that change it."""


def parameter_names(target: object) -> list[str]:
    """The names of the parameters of a function, of a class's constructor, or of a module's `forward`."""
    called = target if isinstance(target, type) else getattr(target, "forward", target)
    try:
        return list(inspect.signature(called).parameters) if callable(called) else []
    except (TypeError, ValueError):  # some of those written in C do not tell
        return []


def written_into(target: Any, argument: str, find_cell: FindCell) -> tuple[str, CodeLine | None]:
    """The parameter that an argument arrives as, and the line that writes into it, if one alone can.

    Args:
        target: the function, or the module, that was called.
        argument: its position, or its keyword.
        find_cell: finds the student's own code.
    """
    function = target if isinstance(target, type) else getattr(target, "forward", target)
    names = parameter_names(function)
    is_position = argument.isdigit() and int(argument) < len(names)
    name = names[int(argument)] if is_position else argument
    code = getattr(function, "__code__", None)
    found = find_cell(code.co_filename) if code is not None else None
    if code is None or found is None:
        return name, None
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno
    text = textwrap.dedent("".join(inspect.getblock(lines[first - 1 :])))
    written = {first - 1 + line for line in _writes(ast.parse(text), name)}
    if len(written) != 1:
        return name, None
    (line,) = written
    return name, CodeLine(*found, line, lines[line - 1].strip()[:200])


def _writes(function: ast.AST, name: str) -> list[int]:
    """The lines that write into what a name stands for; none where it comes to stand for more."""
    nodes = list(ast.walk(function))
    written: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            written.append(node.target)
        elif isinstance(node, ast.Assign):
            written += [target for target in node.targets if not isinstance(target, ast.Name)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_writing = node.func.attr.endswith("_") or node.func.attr in LISTS_OWN
            written += [node.func.value] if is_writing else []
        elif isinstance(node, ast.Delete):
            written += node.targets
    is_rebound = any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in nodes
        if node not in written
    )
    return [] if is_rebound else [node.lineno for node in written if _root(node) == name]


def _root(node: ast.expr) -> str:
    """The name at the beginning of `name.part[0].part`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
