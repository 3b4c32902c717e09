"""What of the course's files decides anything: no comments; of outcomes, no words and no weights."""

import ast
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path

MARKS_OF_SCORES = ("pytest.mark.weight", "pytest.mark.conduct", "pytest.mark.guessable")
WORDS = ("symptom", "question", "kind")
"""What a misconception is said in, and what it leaves of the points."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def without_comments(path: Path) -> bytes:
    """What a file says to Python or to a reader of TOML; all of it where it is neither."""
    return _contents(path.suffix, path.read_bytes())[0]


def deciding_outcomes(path: Path) -> bytes:
    """The same without docstrings, marks of scores, and a misconception's words and kind."""
    return _contents(path.suffix, path.read_bytes())[1]


@cache
def _contents(suffix: str, data: bytes) -> tuple[bytes, bytes]:
    """Both."""
    with suppress(SyntaxError, ValueError, RecursionError):
        if suffix == ".py":
            tree = ast.parse(data)
            whole = ast.dump(tree)
            for node in ast.walk(tree):
                if isinstance(node, Definition):
                    _strip(node)
            return _encoded(whole), _encoded(ast.dump(tree))
        if suffix == ".toml":
            content: object = tomllib.loads(data.decode())
            return _encoded(repr(content)), _encoded(repr(_wordless(content)))
    return data, data


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _strip(node: Definition) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        del node.body[0]
    if not isinstance(node, ast.Module):
        node.decorator_list = [mark for mark in node.decorator_list if not _scores_only(mark)]


def _scores_only(mark: ast.expr) -> bool:
    name = mark.func if isinstance(mark, ast.Call) else mark
    return ast.unparse(name) in MARKS_OF_SCORES


def _wordless(value: object) -> object:
    """A value of a TOML file without the words of misconceptions."""
    if isinstance(value, dict):
        return {key: _wordless(inner) for key, inner in value.items() if key not in WORDS}
    return [_wordless(inner) for inner in value] if isinstance(value, list) else value
