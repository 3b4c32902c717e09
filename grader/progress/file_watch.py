"""Notices when files of a folder were saved: through the system, or by polling."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from grader.submissions.file_names import FORMS

STEP_MS = 20
"""An editor's save is over when nothing more has happened for this long."""
MOST_MS = 200
LOOK_SECONDS = 0.2
LOST_MS = 1000
"""How often to check that the folder is still the one that is watched."""


def saves(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yield each time that a script or notebook below the folder was saved, until `stop` is set."""
    try:
        while not stop.is_set():
            yield from _saves_by_system(folder, stop)
            if not stop.is_set():
                yield  # the folder is gone, or another has its path
            while not (folder.is_dir() or stop.wait(LOOK_SECONDS)):
                pass
    except (ImportError, OSError, RuntimeError):  # the system has no more watches to give
        yield from polled(lambda: _work(folder), lambda: stop.wait(LOOK_SECONDS))


def _saves_by_system(folder: Path, stop: threading.Event) -> Iterator[None]:
    """The same as the system reports it, until another folder takes this one's path."""
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
    """What distinguishes a folder from another at the same path; None when there is none."""
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def polled(
    files: Callable[[], Iterable[Path]], wait: Callable[[], object], *, at_once: bool = False
) -> Iterator[None]:
    """The same by polling; slower, and possible everywhere.

    By hand: `watchfiles` compares times in whole seconds when it polls, and misses quick saves.

    Args:
        files: lists those to look at.
        wait: waits between two looks; true where it is to end.
        at_once: whether it yields before anything was saved, too.
    """
    before = None if at_once else _seen(files())
    while True:
        now = _seen(files())
        if now != before:
            before = now
            yield
        elif wait():
            return


def _work(folder: Path) -> Iterator[Path]:
    """The scripts and notebooks below a folder; of one that goes meanwhile, those found before."""
    with suppress(OSError):
        yield from (path for path in folder.rglob("*") if path.name.endswith(FORMS))


def _seen(files: Iterable[Path]) -> dict[str, tuple[int, int, int]]:
    """What changes when a file is saved: its time, its size, and which file it is."""
    found = {}
    for path in files:
        with suppress(OSError):  # renamed just now
            facts = path.stat()
            found[str(path)] = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
    return found
