"""What a request has taken of its process's own time, and when it has taken too much.

Student code is judged by CPU time, which is the same on a busy machine. It is read from
the system, on this side, where student code cannot change it. The wall clock only ends what
sleeps or is locked; time in which a process waited for a processor is no sleep.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 3
"""How much longer than compute a request may sleep, where sleep can be told from waiting."""
PATIENCE_IN_DOUBT = 8
"""The same where the system does not say whether a process sleeps, or waits for a processor."""
BUSY = 24
"""On a machine so busy that a request has taken this many times its limit, it is not judged."""
FIRST_LOOK = 0.25
"""Seconds; where reading the clock takes milliseconds, it is not read for shorter requests."""
RING_EVERY = 0.05
LOOK_AFTER = 0.01

_SCHEDULER_CLOCK = 2
"""Of a process in Linux: with its number, the clock that counts all its threads to the nanosecond."""


class NotScheduled(Exception):
    """A process got too little of the processor to be judged."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of a process so far.

    Args:
        processor: in which it computed, all threads together.
        waited: in which it waited for a processor; None where the system does not say.
    """

    processor: float
    waited: float | None


class ProcessClock:
    """The time of one process, which must not be reaped before this is closed.

    Attributes:
        is_quick: whether reading it takes next to no time.
        last: what was read last.
    """

    is_quick = sys.platform in ("linux", "win32")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.last = Spent(0.0, 0.0)
        self.schedule: int | None = None
        with contextlib.suppress(OSError):
            self.schedule = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)

    def read(self, *, threads: bool = False) -> Spent:
        """What it has spent; once it has ended, what was read last.

        Args:
            threads: whether another thread than the first may be the one that waits.
        """
        with contextlib.suppress(OSError, ValueError, IndexError):
            processor = processor_seconds(self.pid)
            self.last = Spent(processor, self._waited(threads=threads))
        return self.last

    def _waited(self, *, threads: bool) -> float | None:
        if self.schedule is None:
            return None
        found = [os.pread(self.schedule, 100, 0)]
        if threads:
            tasks = Path(f"/proc/{self.pid}/task")
            for task in set(tasks.iterdir()) - {tasks / str(self.pid)}:
                with contextlib.suppress(OSError):  # a thread may have ended
                    found.append((task / "schedstat").read_bytes())
        # Of several, the one that waited longest: their sum could be driven up by idle threads.
        return max(int(text.split()[1]) for text in found) / 1e9

    def close(self) -> None:
        """Let go of it."""
        if self.schedule is not None:
            os.close(self.schedule)
            self.schedule = None


def processor_seconds(pid: int) -> float:
    """The processor's time that a running process has taken.

    Raises:
        OSError, ValueError, IndexError: when it has ended.
    """
    if sys.platform == "linux":
        return time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
    return _windows_seconds(pid) if sys.platform == "win32" else _posix_seconds(pid)


def _posix_seconds(pid: int) -> float:
    """The same by a program that every POSIX system has."""
    asked = ["ps", "-o", "time=", "-p", str(pid)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return seconds_of(told)


def seconds_of(text: str) -> float:
    """Seconds as `ps` writes them: "1-02:03:04" with days, or "03:04.05".

    Raises:
        ValueError: for any other text.
    """
    days, _dash, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds + 86_400 * int(days or 0)


def _windows_seconds(pid: int) -> float:
    """The same as Windows counts it, in steps of 100 nanoseconds."""
    import ctypes

    system: Any = ctypes.windll.kernel32  # type: ignore[attr-defined]
    ends = [ctypes.c_uint64() for _ in range(4)]  # when it began and ended, in the system, its own
    may_ask = 0x1000
    process = system.OpenProcess(may_ask, False, pid)
    try:
        if not system.GetProcessTimes(process, *map(ctypes.byref, ends)):
            raise OSError("its times are not known")
    finally:
        system.CloseHandle(process)
    return (ends[2].value + ends[3].value) / 1e7


class Stopwatch:
    """A child's connection during one request: reads and writes until its time is up.

    When it is, the child is told by a signal, so that it can say where it was; a little later the
    request ends with a `TimeoutError`.

    Args:
        connection: to the child.
        clock: the child's.
        seconds: what the request may take of the processor.
        slack: seconds more, on top of a quarter, until it ends.
        wall_limit: the seconds after which it ends in any case.
        now: what the wall clock shows.
    """

    def __init__(
        self,
        connection: socket.socket,
        clock: ProcessClock,
        seconds: float,
        slack: float,
        wall_limit: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.connection, self.clock, self.now = connection, clock, now
        self.seconds, self.grace, self.wall_limit = seconds, 0.25 * seconds + slack, wall_limit
        self.before = clock.read() if clock.is_quick else None
        self.started, self.rung = now(), -1.0
        self.look_at = self.started + (seconds if clock.is_quick else min(seconds, FIRST_LOOK))

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read some bytes."""
        while True:
            self._wait()
            with contextlib.suppress(TimeoutError):
                return self.connection.recv_into(buffer)

    def sendall(self, data: bytes, /) -> None:
        """Write all bytes."""
        left = memoryview(data)
        while left:
            self._wait()
            with contextlib.suppress(TimeoutError):
                left = left[self.connection.send(left) :]

    def leave_out(self, seconds: float) -> None:
        """Not count these seconds on the wall, which were spent on this side."""
        self.started += seconds
        self.look_at += seconds

    def _wait(self) -> None:
        """Let the connection wait until the next look.

        Raises:
            TimeoutError: when its time is over.
            NotScheduled: when it had none.
        """
        until = self.look_at - self.now()
        if until <= 0:
            until = max(self._look(), LOOK_AFTER)
            self.look_at = self.now() + until
        self.connection.settimeout(until)

    def _look(self) -> float:
        """The seconds in which nothing can be over."""
        if self.before is None:
            self.before = self.clock.read()
        wall, processor, idle = self._spent(threads=True)
        left = self.seconds - processor - idle / self._patience
        if self.rung < 0 and left > 0:
            if wall >= self.wall_limit:
                raise NotScheduled
            return min(left, self.wall_limit - wall)
        if self.rung < 0:
            if self.clock.last.waited is None and processor < self.seconds - FIRST_LOOK:
                raise NotScheduled
            self.rung = processor + idle
        if processor + idle >= self.rung + self.grace or wall >= 2 * self.wall_limit:
            raise TimeoutError
        self._ring()
        return RING_EVERY

    def taken(self) -> float:
        """What the request has taken so far of the time for its submission."""
        if self.before is None:
            return self.now() - self.started
        _wall, processor, idle = self._spent()
        return processor + idle / self._patience

    @property
    def _patience(self) -> int:
        return PATIENCE if self.clock.last.waited is not None else PATIENCE_IN_DOUBT

    def _spent(self, *, threads: bool = False) -> tuple[float, float, float]:
        """Seconds since it began: on the wall, of the processor, and those of neither, asleep."""
        now, wall = self.clock.read(threads=threads), self.now() - self.started
        before = self.before or now
        processor = max(0.0, now.processor - before.processor)
        waited = max(0.0, (now.waited or 0.0) - (before.waited or 0.0))
        return wall, processor, max(0.0, wall - processor - waited)

    def _ring(self) -> None:
        """Have the child interrupt what runs, where the system has such signals."""
        if hasattr(signal, "SIGALRM"):
            with contextlib.suppress(OSError):
                os.kill(self.clock.pid, signal.SIGALRM)
