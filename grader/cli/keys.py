"""Single keys from the terminal, without Enter; nothing where there is no terminal."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LOOK_SECONDS = 0.1


def has_keys() -> bool:
    """Whether somebody can press keys: standard input and output are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # closed, or none
        return False


@contextmanager
def pressed(report: Callable[[str], None]) -> Iterator[None]:
    """Report each key while the block runs; the terminal is then as it was before.

    Args:
        report: called with each key, in a thread of its own.
    """
    stop = threading.Event()
    read = _read_windows if sys.platform == "win32" else _read_posix
    with _single_keys(), _ended_by_signals():
        thread = threading.Thread(target=read, args=(report, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(2.0)


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

    continued = signal.signal(signal.SIGCONT, begin)  # after Ctrl-Z and fg
    begin()
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, continued)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have a closed window or a `kill` end the block in order."""

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _read_posix(report: Callable[[str], None], stop: threading.Event) -> None:
    import select

    descriptor = sys.stdin.fileno()
    while not stop.is_set():
        ready, _, _ = select.select([descriptor], [], [], LOOK_SECONDS)
        if ready:
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
