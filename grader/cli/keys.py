"""Single keys from the terminal, without Enter; nothing where there is no terminal."""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

LOOK_SECONDS = 0.1


def has_keys() -> bool:
    """Whether somebody can press keys: standard input and output are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # closed, or none
        return False


@contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do something in a thread while the block runs.

    Args:
        work: called with what tells it to end.
    """
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(2.0)


@contextmanager
def pressed(report: Callable[[str], None]) -> Iterator[None]:
    """Report each key while the block runs; the terminal is then as it was before.

    Args:
        report: called with each key, in a thread of its own.
    """
    read = _read_windows if sys.platform == "win32" else _read_posix
    # A closed window or a `kill` ends the block in order.
    ended = _handled(lambda number, _frame: sys.exit(128 + number), "SIGTERM", "SIGHUP")
    with _single_keys(), ended, in_background(lambda stop: read(report, stop)):
        yield


@contextmanager
def _single_keys() -> Iterator[None]:
    """Have the terminal pass on keys at once and show none; Ctrl-C and Ctrl-Z work as before."""
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def begin(*_: object) -> None:
        tty.setcbreak(descriptor, termios.TCSADRAIN)

    try:
        with _handled(begin, "SIGCONT"):  # after Ctrl-Z and fg
            begin()
            yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *names: str) -> Iterator[None]:
    """Have a function called on signals, of those that this system knows."""
    with ExitStack() as stack:
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            stack.callback(signal.signal, number, signal.signal(number, handler))
        yield


def _read_posix(report: Callable[[str], None], stop: threading.Event) -> None:
    descriptor = sys.stdin.fileno()
    while not stop.is_set():
        if select.select([descriptor], [], [], LOOK_SECONDS)[0]:
            data = os.read(descriptor, 64)
            if not data:
                return
            for key in data.decode("utf-8", "ignore"):
                report(key)


def _read_windows(report: Callable[[str], None], stop: threading.Event) -> None:
    import msvcrt

    while not stop.wait(LOOK_SECONDS):
        while msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
            report(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
