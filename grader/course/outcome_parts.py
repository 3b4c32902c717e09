"""What decides outcomes, in parts: which assignments a change of the course asks to grade again.

Points, due dates, weights, and the words that people read are not among them. They decide scores
and pages, for which no student code is run.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from grader.core.kept import kept
from grader.core.text import hash_of
from grader.course.contents import deciding_outcomes, without_comments
from grader.course.course import CHECKS, SOLUTIONS, Assignment, Course, decides_scores

_read: dict[str, dict[str, tuple[dict[str, str], str]]] = {}
"""What `_hashes` read last, by the hash of the course's bytes."""


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
    return {what: _hash_of_files(course, files, deciding_outcomes) for what, files in own.items()}


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
