"""What keeps one student's work from being read: that student is undecided, and the class goes on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tokenize import TokenError
from typing import TypeVar

from grader.core.errors import UsageError
from grader.core.text import clean

Given = TypeVar("Given")
Read = TypeVar("Read")
FAULTS = (
    *(OSError, ValueError, ArithmeticError, RecursionError, MemoryError),
    *(SyntaxError, TokenError),
)
"""What reading may raise, whatever was handed in."""


def each(
    students: Mapping[str, Given], read: Callable[[str, Given], Read]
) -> tuple[dict[str, Read], dict[str, str]]:
    """What reading gives for each student, and why the work of others cannot be read."""
    found, refused = dict[str, Read](), dict[str, str]()
    for student, given in students.items():
        try:
            found[student] = read(student, given)
        except FAULTS as error:
            refused[student] = in_words(error)
    return found, refused


@contextmanager
def told(student: str) -> Iterator[None]:
    """Tell what keeps one student's work from being read, where it is asked for alone.

    Raises:
        UsageError: in place of a fault.
    """
    try:
        yield
    except FAULTS as error:
        raise UsageError(f"{student}: {in_words(error)}.") from error


def in_words(error: Exception) -> str:
    """Why work could not be read, for instructors."""
    if not isinstance(error, OSError) or error.filename is None:
        return clean(f"what was handed in cannot be read ({type(error).__name__}: {error})")
    name = Path(str(error.filename)).name
    reason = f"{name} cannot be read ({error.strerror or type(error).__name__})"
    if isinstance(error, PermissionError):
        command = f"`chmod -R u+rX {quote(name)}`"
        reason += f": make it readable, with {command} for example, and run the same command again"
    return clean(reason)
