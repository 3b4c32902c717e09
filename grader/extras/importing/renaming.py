"""Gives another name to what a notebook sets anew, because each exercise keeps its own to the end."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from grader.testing.taken_apart import names_in_order

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Code in which some names are others; comments and texts stay.

    Args:
        text: the code; of what is no Python, each word is replaced.
        names: the new ones by the old ones.
    """
    wanted = {name for name in names if name in text}
    if not wanted:
        return text
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return _words(text, names)
    lines = text.splitlines(keepends=True)
    for line, start, end in sorted({*_places(tree, wanted, lines)}, reverse=True):
        raw = lines[line - 1].encode()
        changed = _words(raw[start:end].decode(), names)
        lines[line - 1] = (raw[:start] + changed.encode() + raw[end:]).decode()
    return "".join(lines)


def _words(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"(?<!\.)\b[^\W\d]\w*", lambda match: names.get(match[0], match[0]), text)


def _places(
    node: ast.AST, names: Collection[str], lines: list[str]
) -> Iterator[tuple[int, int, int]]:
    """Where names stand that mean those of the file: the line, and its first and last byte."""
    match node:
        case ast.Name(id=name) if name in names:
            yield node.lineno, node.col_offset, node.col_offset + len(name.encode())
        case ast.JoinedStr() if node.lineno == node.end_lineno:
            # Before Python 3.12, what stands in it has no places of its own.
            raw = lines[node.lineno - 1].encode()[: node.end_col_offset]
            for part in re.finditer(rb"\{[^{}]*\}", raw):
                if part.start() >= node.col_offset and _uses(node, names):
                    yield node.lineno, part.start(), part.end()
            return
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name in names:
            line = lines[node.lineno - 1].encode()
            start = line.index(name.encode(), node.col_offset + len("def "))
            yield node.lineno, start, start + len(name.encode())
    inner = {name for name in names if not isinstance(node, Scope) or not _binds(node, name)}
    for child in ast.iter_child_nodes(node):
        yield from _places(child, inner, lines)


def _uses(node: ast.AST, names: Collection[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _binds(node: Scope, name: str) -> bool:
    """Whether a function or class means something of its own by a name."""
    arguments = [] if isinstance(node, ast.ClassDef) else [*ast.walk(node.args)]
    body = node.body if isinstance(node.body, list) else [node.body]
    is_argument = any(isinstance(part, ast.arg) and part.arg == name for part in arguments)
    return is_argument or (name, True) in names_in_order(body)
