"""A submission in a child process; after any death a new child serves the next request."""

import signal
import socket
import time
from dataclasses import dataclass, field

from grader.core.errors import GraderFault, NoProcessFault
from grader.core.language import _
from grader.course.course import Limits
from grader.sandbox.limits import LIMITS_MEMORY, libraries_in
from grader.sandbox.stream import Raw, Reader
from grader.sandbox.wire import Frame, WireFault, encode
from grader.sessions import own_time
from grader.sessions.base import OwnFrame, Session, failed
from grader.sessions.launchers import START_SECONDS, Child, Launcher, importing
from grader.submissions.submission import Submission

SLACK = 0.5
"""Seconds that a child has, beyond its own time and a quarter, to end a request by itself."""
PATIENCE = 0.5
"""Seconds in which a process that closed its connection may end by itself."""


class _Deadline:
    """A socket that reads and writes until a moment, and no longer."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self.connection = connection
        self.until = time.monotonic() + seconds

    def _wait(self) -> None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read some bytes."""
        self._wait()
        return self.connection.recv_into(buffer)

    def sendall(self, data: bytes, /) -> None:
        """Write all bytes."""
        self._wait()
        self.connection.sendall(data)


@dataclass(eq=False)
class ChildSession(Session):
    """A submission in a child process; after any death a new child serves the next request.

    Args:
        launcher: makes the child processes.
        submission: its files are sent to each of them.
        limits: of time and memory.
        owns_launcher: whether the launcher is closed with the session.
        slack: seconds beyond its own time in which a child may end a request by itself.
        beside: the session whose time for the whole submission this one shares.
    """

    launcher: Launcher
    submission: Submission
    limits: Limits
    owns_launcher: bool = field(default=False, kw_only=True)
    slack: float = field(default=SLACK, kw_only=True)
    beside: "ChildSession | None" = field(default=None, kw_only=True)
    seconds_left: float = field(init=False)
    generation: int = field(default=1, init=False)
    child: Child | None = field(default=None, init=False)
    reader: Reader = field(default_factory=Reader, init=False)
    is_fresh: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.isolation = self.launcher.isolation
        whole = self.limits.submission_seconds
        self.seconds_left = whole if self.beside is None else self.beside.seconds_left

    def within(self, limits: Limits) -> "ChildSession | None":
        """A child of its own by the same launcher, where the system can limit its memory."""
        if not LIMITS_MEMORY:
            return None
        return ChildSession(self.launcher, self.submission, limits, slack=self.slack, beside=self)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Ask the child, starting one where there is none."""
        if frame.header["verb"] == "forget":  # sent with the next request, not in one of its own
            self.is_fresh = True
            return Frame({})
        return self.decode(self.exchange(*self.encode(frame, seconds)))

    def encode(self, frame: Frame, seconds: float) -> tuple[bytes, float]:
        """A request as it is sent, and the seconds it may take."""
        header = {**frame.header, "fresh": self.is_fresh}
        self.is_fresh = False
        if self.seconds_left < seconds:
            seconds = header["seconds"] = max(0.0, self.seconds_left)
        return encode(Frame(header, frame.payload)), seconds

    def decode(self, reply: Raw | OwnFrame) -> Frame:
        """A reply as a frame; a child whose reply is malformed is ended."""
        if isinstance(reply, OwnFrame):
            return reply
        try:
            return reply.frame()
        except WireFault as error:
            return self._malformed(error)

    def exchange(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        """Send a request, and return the reply as it came."""
        if self.seconds_left <= 0:
            total = f"{self.limits.submission_seconds:g}"
            template = _("the {seconds} seconds for the whole submission are used up")
            return failed("timeout", template.format(seconds=total))
        if self.child is None:
            self._start()
        started = time.monotonic()
        try:
            with own_time.paused():
                return self._exchange(request, 1.25 * seconds + self.slack)
        except TimeoutError:
            self._end()
            template = _("your code was still running after {seconds} seconds")
            return failed("timeout", template.format(seconds=f"{seconds:g}"))
        except (EOFError, ConnectionError):
            return failed("crashed", _death(self._end(PATIENCE)))
        except WireFault as error:
            return self._malformed(error)
        finally:
            self.seconds_left -= time.monotonic() - started

    def _malformed(self, error: WireFault) -> OwnFrame:
        self._end()
        template = _("its process sent a malformed reply: {error}")
        return failed("crashed", template.format(error=error))

    def _start(self) -> None:
        try:
            mentioned = libraries_in(source.text for source in self.submission.sources.values())
            limits = importing(self.limits, mentioned)
            self.child = self.launcher.launch(limits, self.generation)
            self.reader = Reader()
            greeting = self.reader.receive(_Deadline(self.child.connection, START_SECONDS))
            header = greeting.frame().header
            if "fault" in header:
                raise NoProcessFault(f"a child process could not be confined: {header['fault']}")
            for key, source in self.submission.sources.items():
                header = {"verb": "sources", "sources": {key: source.header()}}
                known = {"awaited": self.submission.modules, "lent": self.submission.lent}
                request = Frame({**header, **known})
                self._exchange(encode(request), START_SECONDS)
        except (EOFError, OSError, WireFault) as error:
            self._end()
            raise NoProcessFault(f"a child process could not be started ({error!r})") from error

    def _exchange(self, request: bytes, seconds: float) -> Raw:
        if self.child is None:
            raise GraderFault("there is no child to ask")
        stream = _Deadline(self.child.connection, seconds)
        stream.sendall(request)
        return self.reader.receive(stream)

    def _end(self, patience: float = 0.0) -> int | None:
        child, self.child = self.child, None
        self.generation += 1
        return child.end(patience) if child is not None else None

    def close(self) -> None:
        """End the child, if one is running, and the launcher if it is this session's own."""
        self._end()
        if self.beside is not None:
            self.beside.seconds_left = self.seconds_left
        if self.owns_launcher:
            self.launcher.close()


def _death(status: int | None) -> str:
    if status is not None and status < 0 and -status != signal.SIGKILL:
        template = _("the Python process of your code died of {signal}")
        names = {known.value: known.name for known in signal.Signals}  # but real-time signals
        return template.format(signal=names.get(-status, f"signal {-status}"))
    if status is not None and status >= 0:
        template = _("your code ended the Python process it ran in (exit status {status})")
        return template.format(status=status)
    return _("the Python process of your code ended without an answer")
