"""What decides outcomes, in parts: which assignments a change of the course asks to grade again.

Points, due dates, weights, and the words that people read are not among them. They decide scores
and pages, for which no student code is run.
"""

import ast
import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from grader.core.files import without_comments
from grader.core.kept import kept
from grader.core.text import hash_of
from grader.course.course import CHECKS, SOLUTIONS, Assignment, Course, decides_scores

MARKS_OF_SCORES = ("pytest.mark.weight", "pytest.mark.conduct", "pytest.mark.guessable")
WORDS = ("symptom", "question", "kind")
"""What a misconception is said in, and what it leaves of the points."""

_read: dict[str, dict[str, tuple[dict[str, str], str]]] = {}
"""What `_hashes` read last, by the hash of the course's bytes."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def outcome_parts(course: Course) -> dict[str, dict[str, str]]:
    """By assignment, a hash of each thing that decides its outcomes, by what it is in words."""
    return {id_: parts for id_, (parts, _declared) in _hashes(course).items()}


def everything_of(course: Course, assignment: Assignment) -> object:
    """What decides an assignment's outcomes, and what is shown of it: a key for what is kept."""
    return _hashes(course)[assignment.id]


def _hashes(course: Course) -> dict[str, tuple[dict[str, str], str]]:
    """By assignment, what decides its outcomes, and what is shown of it."""

    def make() -> bytes:
        parts = _parts(course)
        hashes = {a.id: (parts[a.id], _declared(course, a)) for a in course.assignments}
        return json.dumps(hashes).encode()

    if course.raw_hash not in _read:
        _read.clear()
        _read[course.raw_hash] = json.loads(kept("hashes", ["parts", course.raw_hash], make))
    return _read[course.raw_hash]


def _parts(course: Course) -> dict[str, dict[str, str]]:
    structure = [
        (a.id, (*a.imports, a.lends) if a.lends else a.imports, [e.name for e in a.exercises])
        for a in course.assignments
    ]
    printed = _hash_of_files(course, course.ledger_files, without_comments)
    shared = {
        "the limits": _hash(repr(course.limits)),
        "the list of exercises": _hash(repr((structure, course.prefer))),
        "the encodings of files": _hash(repr(course.encodings)),
        "the roles of parameters": _hash(repr((course.roles, course.other_names))),
        "the printed tensors": _hash(f"{printed} {course.ledger!r}"),
        "files beside the assignments": _hash_of_files(course, _beside(course), without_comments),
    }
    return {a.id: {**_own(course, a), **shared} for a in course.assignments}


def _declared(course: Course, assignment: Assignment) -> str:
    folders = (course.root / CHECKS, course.root / SOLUTIONS)
    files = (path for folder in folders for path in (folder / assignment.id).glob("*.*"))
    wanted = (path for path in files if path.parent.parent == folders[0] or path.suffix == ".toml")
    return _hash_of_files(course, wanted, without_comments)


def _own(course: Course, assignment: Assignment) -> dict[str, str]:
    solutions, checks = course.root / SOLUTIONS, course.root / CHECKS
    own = {
        "its checks": (checks / assignment.id).rglob("*"),
        "its known mistakes": (solutions / assignment.id).rglob("*.toml"),
        "its solution": _code(solutions / assignment.id),
    }
    for id_ in sorted(course.with_imports(assignment) - {assignment.id}):
        own[f"the solution of {id_}"] = _code(solutions / id_)
    for id_ in assignment.compares:  # whose mistakes may come along
        own[f"the checks of {id_}"] = (checks / id_).rglob("*")
        own[f"solution and known mistakes of {id_}"] = (solutions / id_).rglob("*")
    return {what: _hash_of_files(course, files, _deciding) for what, files in own.items()}


def _code(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.suffix != ".toml")


def _beside(course: Course) -> Iterable[Path]:
    """Files of checks and solutions that are no assignment's."""
    for folder in (CHECKS, SOLUTIONS):
        for path in course.files_of(folder):
            if path.relative_to(course.root / folder).parts[0] not in course.by_id:
                yield path


def _hash_of_files(course: Course, files: Iterable[Path], content: Callable[[Path], bytes]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in files if decides_scores(path)):
        digest.update(course.inner(path).encode() + hashlib.sha256(content(path)).digest())
    return digest.hexdigest()[:16]


def _hash(text: str) -> str:
    return hash_of(text)[:16]


def _deciding(path: Path) -> bytes:
    """What of a file decides outcomes: no docstring, no mark of scores, no words or kind of a misconception."""
    return _deciding_content(path.suffix, path.read_bytes()) or without_comments(path)


@cache
def _deciding_content(suffix: str, data: bytes) -> bytes:
    with suppress(SyntaxError, ValueError, RecursionError):
        if suffix == ".py":
            tree = ast.parse(data)
            for node in ast.walk(tree):
                if isinstance(node, Definition):
                    _strip(node)
            return ast.dump(tree).encode("utf-8", "backslashreplace")
        if suffix == ".toml":
            return repr(_wordless(tomllib.loads(data.decode()))).encode("utf-8", "replace")
    return b""


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
