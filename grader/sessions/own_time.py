"""The time that the graders' own code takes, apart from student code's; ends what never returns."""

import contextlib
import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

LOOK_EVERY_SECONDS = 0.1
PATIENCE = 8
"""How much longer than compute it may take on the wall, where a thread's own clock can be read."""


class OwnTimeOver(BaseException):
    """Raised in code of ours that has used up its time; no `except Exception` stops it."""


@dataclass(slots=True)
class _Deadline:
    """When a thread's time is over: on the wall, and by its own clock, if it has one."""

    wall: float
    clock: int | None = None
    own: float = 0.0

    @classmethod
    def after(cls, seconds: float) -> "_Deadline":
        """The one of this thread, these seconds from now."""
        if not hasattr(time, "pthread_getcpuclockid"):
            return cls(time.monotonic() + seconds)
        clock = time.pthread_getcpuclockid(threading.get_ident())
        wall = time.monotonic() + PATIENCE * seconds
        return cls(wall, clock, time.clock_gettime(clock) + seconds)

    def is_over(self) -> bool:
        """Whether it is."""
        with contextlib.suppress(OSError):  # the thread has ended
            if self.clock is not None and time.clock_gettime(self.clock) >= self.own:
                return True
        return time.monotonic() >= self.wall


_lock = threading.Lock()
_deadlines: dict[int, "_Deadline"] = {}
"""By thread, when its time is over."""
_ending: set[int] = set()
"""The threads that are told so, until they have heard it."""
_watching: list[threading.Thread] = []


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Have what runs inside end with `OwnTimeOver` after these seconds of CPU time.

    Also in a thread, and while it sleeps in the main one; a long call into C ends first.
    """
    thread = threading.get_ident()
    _hear_alarms()
    _deadlines[thread] = _Deadline.after(seconds)
    with _lock:
        if not _watching or not _watching[0].is_alive():  # a fork has none of its parent's threads
            _watching[:] = [threading.Thread(target=_watch, daemon=True)]
            _watching[0].start()
    try:
        yield
        with _lock:
            is_over = _deadlines.pop(thread, None) is None
        while is_over:  # it arrives at any moment, and not later than here
            time.sleep(LOOK_EVERY_SECONDS)
    finally:
        with _lock:
            _deadlines.pop(thread, None)
            _ending.discard(thread)


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Have what runs inside, student code, take nothing of this thread's time."""
    with _lock:
        deadline = _deadlines.pop(threading.get_ident(), None)
    started = time.monotonic()
    try:
        yield
    finally:
        if deadline is not None:
            deadline.wall += time.monotonic() - started
            _deadlines[threading.get_ident()] = deadline


def _watch() -> None:
    """Raise in threads whose time is over, at their next instruction; a signal wakes the main one.

    It is sent again at each look: one that comes just before a sleep begins wakes nobody.
    """
    main = threading.main_thread().ident or 0
    while True:
        time.sleep(LOOK_EVERY_SECONDS)
        with _lock:
            # A copy: other threads add and remove their own.
            for thread in [t for t, one in [*_deadlines.items()] if one.is_over()]:
                _deadlines.pop(thread, None)
                _ending.add(thread)
                raised = ctypes.c_ulong(thread), ctypes.py_object(OwnTimeOver)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(*raised)
            if main in _ending and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(main, signal.SIGALRM)


def _hear_alarms() -> None:
    """Have an alarm wake the main thread, where the system knows alarms, and nothing else."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "SIGALRM"):
        return
    if signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, signal.SIG_IGN):
        signal.signal(signal.SIGALRM, lambda *_: None)
