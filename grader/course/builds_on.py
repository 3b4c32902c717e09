"""Which earlier exercises of its file an exercise builds on, as its solution is written."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from grader.core.kept import kept
from grader.course.course import Course, Exercise


@dataclass(frozen=True, slots=True)
class Definitions:
    """What a file defines at its top.

    Args:
        uses: by name, which of the others its definition names.
        parameters: by name, those of a function or of a class's constructor.
    """

    uses: Mapping[str, frozenset[str]]
    parameters: Mapping[str, list[str]]


@cache
def definitions_of(text: str) -> Definitions:
    """What a file defines, by its text."""
    defined = {
        node.name: node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    uses = {
        name: frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)) & defined.keys()
        for name, node in defined.items()
    }
    return Definitions(uses, {name: _parameters(node) for name, node in defined.items()})


def _parameters(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        given = node.args
        return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    constructors = (n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    return next((_parameters(constructor)[1:] for constructor in constructors), [])


def all_builds_on(course: Course) -> dict[str, tuple[str, ...]]:
    """What `builds_on` says of each exercise of a course, by its id."""

    def make() -> bytes:
        return json.dumps({e.id: builds_on(course, e) for e in course.exercises.values()}).encode()

    ids = json.loads(kept("hashes", ["builds on", course.raw_hash], make))
    return {id_: tuple(earlier) for id_, earlier in ids.items()}


def builds_on(course: Course, exercise: Exercise) -> tuple[str, ...]:
    """The ids of the earlier exercises of its file that its solution calls, and that these call."""
    assignment = course.by_id[exercise.assignment]
    uses = definitions_of(course.paths(assignment).solution.read_text("utf-8")).uses
    reached: set[str] = set()
    ahead = {exercise.name}
    while ahead:
        reached |= ahead
        ahead = {used for name in ahead for used in uses.get(name, ())} - reached
    ids = [e.id for e in assignment.exercises]
    earlier = assignment.exercises[: ids.index(exercise.id)]
    return tuple(e.id for e in earlier if e.name in reached)
