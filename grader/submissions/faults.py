"""What keeps one student's work from being read: that student is undecided, and the class goes on."""

from pathlib import Path

from grader.core.text import clean

FAULTS = (OSError, ValueError, ArithmeticError, RecursionError, MemoryError)
"""What reading may raise, whatever was handed in."""


def in_words(error: Exception) -> str:
    """Why work could not be read, for instructors."""
    if not isinstance(error, OSError) or error.filename is None:
        return clean(f"what was handed in cannot be read ({type(error).__name__}: {error})")
    name = Path(str(error.filename)).name
    return clean(f"{name} cannot be read ({error.strerror or type(error).__name__})")
