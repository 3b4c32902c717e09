"""Keeps commands apart that would work in one folder at the same time: a run's, or a course's.

The system's lock on the folder itself is used: it leaves no file there, and ends with the process.
Where there is none (Windows, some network drives), two commands at a time are not noticed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import writing


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Keep other commands out of a folder; where there is none it is made, and stays if it is used.

    Raises:
        UsageError: when another command works there, or it cannot be made.
    """
    is_new = not folder.exists()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder, alone=True) as is_free:
        if not is_free:
            raise UsageError(
                f"Another grader command is working in {folder}. Wait for it, then give this command "
                "again."
            )
        try:
            yield
        finally:
            with suppress(OSError):  # it is not empty
                if is_new:
                    folder.rmdir()


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Keep commands that write out of a folder; others may read there as well.

    Raises:
        UsageError: when a command writes there.
    """
    with _locked(folder, alone=False) as is_free:
        if not is_free:
            raise UsageError(
                f"A grader command is writing to {folder}: its results are partly old and partly new. "
                "Wait for it, then give this command again."
            )
        yield


def has_lock(descriptor: int, *, alone: bool) -> bool:
    """Lock an open file for as long as it is open; whether no other process has it.

    Args:
        descriptor: of the file, or folder.
        alone: whether nobody else may have it at all; else others may who do not ask for that.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a drive without locks
        return True
    return True


@contextmanager
def _locked(folder: Path, *, alone: bool) -> Iterator[bool]:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # no folder, which the command itself says, or Windows
        yield True
        return
    try:
        yield has_lock(descriptor, alone=alone)
    finally:
        os.close(descriptor)
