"""The classes that a student's file defines, also earlier ones of a name, and what they and functions take.

It runs beside student code: standard library only.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_CLASSES = 200

PLAIN = (bool, int, float, str, type(None))
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
LIBRARIES = ("builtins", "torch", "numpy", "typing", "collections", "grader")


@dataclass(slots=True)
class Definition:
    """A class, and where its statement stands; 0 and None for one that was imported."""

    found: type
    cell: int | None = None
    line: int = 0

    def header(self) -> dict[str, Any]:
        """What is reported of it."""
        forward = _parameters(getattr(self.found, "forward", None))
        told = {"cell": self.cell, "line": self.line, "parameters": _parameters(self.found)}
        return {**told, "forward": forward[1:]} if forward else told


@dataclass(slots=True)
class Classes:
    """The classes of a file by name, in the order of their statements."""

    namespace: dict[str, Any]
    defined: dict[str, list[Definition]] = field(default_factory=dict)

    def note(self, name: str, cell: int | None, line: int) -> None:
        """Keep the class that a statement has just made."""
        found = self.namespace.get(name)
        earlier = self.defined.setdefault(name, [])
        if isinstance(found, type) and all(one.found is not found for one in earlier):
            earlier.append(Definition(found, cell, line))

    def of(self, name: str) -> list[Definition]:
        """All classes that a name stood for, and now stands for."""
        value, known = self.namespace.get(name), self.defined.get(name, [])
        if not isinstance(value, type) or any(one.found is value for one in known):
            return known
        return [*known, Definition(value)]

    def choose(self, name: str, number: int) -> None:
        """Let a name stand for one of its classes, also for the methods of that class."""
        candidates = self.defined[name] = self.of(name)
        if 0 <= number < len(candidates):
            self.namespace[name] = candidates[number].found

    def names(self) -> dict[int, str]:
        """By the identity of a class, the name that it has in the file; the first of several."""
        items = reversed(list(self.namespace.items()))
        return {id(value): name for name, value in items if isinstance(value, type)}

    def header(self) -> dict[str, Any]:
        """What is reported of each class, and each function, that the file defines or imports from another."""
        own = [pair for pair in list(self.namespace.items()) if _is_own(pair[1])]
        return {
            name: [one.header() for one in self.of(name)]
            if isinstance(value, type)
            else {"parameters": _parameters(value)}
            for name, value in own[:MAX_CLASSES]
        }


def _is_own(value: object) -> bool:
    made_by = getattr(value, "__init__", None) if isinstance(value, type) else value
    if not inspect.isfunction(made_by):
        return False
    return str(getattr(value, "__module__", "")).partition(".")[0] not in LIBRARIES


def _parameters(found: Any) -> list[list[Any]] | None:
    """What a constructor, or a method, takes: names, each with a list of its default if it has one.

    None where it takes more than can be said by names.
    """
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(found).parameters
    except Exception:  # whatever the student's class makes of it
        return None
    if any(one.kind not in NAMED for one in parameters.values()):
        return None
    return [[name, _default(one.default)] for name, one in parameters.items()]


def _default(value: object) -> list[Any]:
    if value is inspect.Parameter.empty:
        return []
    return [value if type(value) in PLAIN else None]
