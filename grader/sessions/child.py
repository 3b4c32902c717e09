"""A submission in a child process; after any death a new child serves the next request."""

import signal
import socket
import time
from collections import deque
from dataclasses import dataclass

from grader.core.errors import GraderFault
from grader.core.language import _
from grader.course.course import Limits
from grader.sandbox.wire import Frame, Raw, Reader, WireFault, encode
from grader.sessions.base import OwnFrame, failed
from grader.sessions.launchers import START_SECONDS, Child, Launcher
from grader.submissions.submission import Submission

HURRY = 5.0
"""Seconds beyond those of one request; with less than that left, requests are not kept for others."""
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


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as it was sent, and the answer as it came."""

    request: bytes
    answer: Raw | OwnFrame


class ChildSession:
    """A submission in a child process; after any death a new child serves the next request.

    Args:
        launcher: makes the child processes.
        submission: what is sent to each of them.
        limits: of time and memory.
        owns_launcher: whether the launcher is closed with the session.
    """

    def __init__(
        self,
        launcher: Launcher,
        submission: Submission,
        limits: Limits,
        *,
        owns_launcher: bool = False,
    ) -> None:
        self.launcher = launcher
        self.owns_launcher = owns_launcher
        self.submission = submission
        self.limits = limits
        self.isolation = launcher.isolation
        self.generation = 1
        self.child: Child | None = None
        self.reader = Reader()
        self.is_fresh = False
        self.seconds_left = limits.submission_seconds
        self.heard: list[Heard] = []
        self.at_hand: deque[Heard] = deque()

    @property
    def is_first(self) -> bool:
        """Whether no process of this submission has died."""
        return self.generation == 1

    @property
    def has_time(self) -> bool:
        """Whether a request may take the time that the course grants each of them."""
        return self.seconds_left > self.limits.request_seconds + HURRY

    def listen(self) -> None:
        """Write down from now on what is asked and answered."""
        self.heard.clear()
        self.at_hand.clear()

    def again(self) -> None:
        """Answer the same requests from what was heard since `listen`, before the child is asked."""
        self.at_hand = deque(self.heard)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Ask the child, starting one where there is none."""
        if frame.header["verb"] == "forget":  # told with the next request, not in one of its own
            self.is_fresh = True
            return Frame({})
        header = {**frame.header, "fresh": self.is_fresh}
        if self.seconds_left < seconds:
            seconds = header["seconds"] = max(0.0, self.seconds_left)
        request = encode(Frame(header, frame.payload))
        answer = self._at_hand(request) if self.at_hand else self.exchange(request, seconds)
        if isinstance(answer, OwnFrame):
            return answer
        try:
            return answer.frame()
        except WireFault as error:
            return self._garbled(error)

    def _at_hand(self, request: bytes) -> Raw | OwnFrame:
        heard = self.at_hand.popleft()
        if heard.request != request and self.has_time:
            raise GraderFault("a check asks something else when it is given the same answers")
        self.is_fresh = False
        return heard.answer

    def exchange(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        """The same for a request that is encoded already; the answer as it came."""
        answer = self._answer(request, seconds)
        self.heard.append(Heard(request, answer))
        return answer

    def _answer(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        if self.seconds_left <= 0:
            total = f"{self.limits.submission_seconds:g}"
            template = _("the {seconds} seconds for the whole submission are used up")
            return failed("timeout", template.format(seconds=total))
        if self.child is None:
            self._start()
        self.is_fresh = False
        started = time.monotonic()
        try:
            return self._exchange(request, 1.25 * seconds + 0.5)
        except TimeoutError:
            self._end()
            template = _("your code was still running after {seconds} seconds")
            return failed("timeout", template.format(seconds=f"{seconds:g}"))
        except (EOFError, ConnectionError):
            return failed("crashed", _death(self._end(PATIENCE)))
        except WireFault as error:
            return self._garbled(error)
        finally:
            self.seconds_left -= time.monotonic() - started

    def _garbled(self, error: WireFault) -> OwnFrame:
        self._end()
        template = _("its process sent a malformed reply: {error}")
        return failed("crashed", template.format(error=error))

    def _start(self) -> None:
        try:
            self._start_child()
        except (EOFError, OSError, WireFault) as error:
            self._end()
            raise GraderFault(f"a child process could not be started ({error!r})") from error

    def _start_child(self) -> None:
        self.child = self.launcher.launch(self.limits, self.generation)
        self.reader = Reader()
        greeting = self.reader.receive(_Deadline(self.child.connection, START_SECONDS))
        header = greeting.frame().header
        if "fault" in header:
            raise GraderFault(f"a child process could not be confined: {header['fault']}")
        for key, source in self.submission.sources.items():
            request = Frame({"verb": "sources", "sources": {key: source.header()}})
            self._exchange(encode(request), START_SECONDS)

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
        if self.owns_launcher:
            self.launcher.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _death(status: int | None) -> str:
    if status is not None and status < 0 and -status != signal.SIGKILL:
        template = _("the Python process of your code died of {signal}")
        return template.format(signal=_signal_name(-status))
    if status is not None and status >= 0:
        template = _("your code ended the Python process it ran in (exit status {status})")
        return template.format(status=status)
    return _("the Python process of your code ended without an answer")
