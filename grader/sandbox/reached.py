"""Which of a file's names a function or a class of it reaches, by what its code looks up.

It runs beside student code: standard library only.
"""

import dis
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.sandbox.constructors import LIBRARIES

MOST_LOOKED_AT = 200
"""Names of a file whose code is looked at."""


def reaches(namespace: Mapping[str, Any], names: Sequence[str], wanted: str) -> bool:
    """Whether the code of some names looks up another, also through other names of the file.

    Args:
        namespace: of the file.
        names: whose code is looked at.
        wanted: the other.
    """
    ahead, seen = list(names), set(names)
    while ahead and len(seen) < MOST_LOOKED_AT:
        for name in _looked_up(namespace.get(ahead.pop())):
            if name == wanted:
                return True
            if name in namespace and name not in seen:
                seen.add(name)
                ahead.append(name)
    return False


def _looked_up(value: object) -> Iterator[str]:
    """The names that a function, or the methods of a class and of what it is made from, look up."""
    if isinstance(value, type):
        own = [kind for kind in value.__mro__ if kind.__module__.partition(".")[0] not in LIBRARIES]
        for member in [member for kind in own for member in list(vars(kind).values())]:
            if not isinstance(member, type):
                yield from _looked_up(getattr(member, "__func__", member))
        yield from (kind.__name__ for kind in own[1:])
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        yield from _globals_of(code)


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _globals_of(inner)
