"""Tells when files of a folder were saved: through the system, or by looking now and then."""

import threading
from collections.abc import Iterator
from pathlib import Path

from grader.submissions.submission import FORMS

STEP_MS = 20
"""An editor's save is over when nothing more has happened for so long."""
MOST_MS = 200
LOOK_SECONDS = 0.2
LOST_MS = 1000
"""So often it is seen to that the folder is still the one that is watched."""


def saves(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yield each time that a script or notebook below the folder was saved, until `stop` is set."""
    try:
        while not stop.is_set():
            yield from _told(folder, stop)
            if not stop.is_set():
                yield  # the folder is gone, or another is in its place
            while not (folder.is_dir() or stop.wait(LOOK_SECONDS)):
                pass
    except (ImportError, OSError, RuntimeError):  # the system has no more watches to give
        yield from looked_at(folder, stop, LOOK_SECONDS)


def _told(folder: Path, stop: threading.Event) -> Iterator[None]:
    """The same as the system tells it, as long as the folder is the one it was."""
    import watchfiles

    which = _identity(folder)
    changes = watchfiles.watch(
        folder,
        watch_filter=lambda _, path: path.endswith(FORMS),
        debounce=MOST_MS,
        step=STEP_MS,
        stop_event=stop,
        rust_timeout=LOST_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    for found in changes:
        if found:
            yield
        if _identity(folder) != which:
            return


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from another in its place; None when there is none."""
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def looked_at(folder: Path, stop: threading.Event, seconds: float) -> Iterator[None]:
    """The same by looking every so many seconds; slower, and possible everywhere."""
    before = _seen(folder)
    while not stop.wait(seconds):
        now = _seen(folder)
        if now != before:
            before = now
            yield


def _seen(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What tells that a file was saved: its time, its size, and which file it is."""
    found = {}
    for form in FORMS:
        for path in folder.rglob(f"*{form}"):
            try:
                facts = path.stat()
            except OSError:  # renamed just now
                continue
            found[str(path)] = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
    return found
