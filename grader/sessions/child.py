"""A submission in a child process; after any death a new child serves the next request."""

import socket
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import GraderFault, NoProcessFault
from grader.core.language import _
from grader.course.course import Limits
from grader.sandbox.limits import LIMITS_MEMORY
from grader.sandbox.stream import Raw, Reader
from grader.sandbox.wire import (
    FAILED,
    PREFIX,
    Frame,
    WireFault,
    batch,
    decode_header,
    encode,
)
from grader.sessions import own_time
from grader.sessions.answers import Answers, is_question
from grader.sessions.base import OwnFrame, Session, death, failed
from grader.sessions.launchers import START_SECONDS, Child, Launcher, importing
from grader.sessions.stopwatch import BUSY, NotScheduled, ProcessClock, Stopwatch
from grader.submissions.submission import Submission

SLACK = 0.5
"""Seconds that a child has, beyond its own time and a quarter, to end a request by itself."""
PATIENCE = 0.5
"""Seconds in which a process that closed its connection may end by itself."""
MOST_STOPS = 4
"""How often the files of a submission are loaded anew without a statement that ended loading."""
MOST_TEXT = 500_000
"""Characters of source code that are sent at once: together they stay below the size of a header."""
PROGRESS = b'{"at":'
"""How a frame begins that says which statement of a file is about to run."""


class _Deadline:
    """A socket that reads and writes until a moment, and no longer: while a child starts."""

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

    def leave_out(self, seconds: float) -> None:
        """Not count these seconds, which were spent on this side."""
        self.until += seconds


@dataclass
class TimeLeft:
    """What all processes of a submission may take together.

    Args:
        processor: seconds in which they compute.
        wall_limit: seconds on the wall, which are many more.
    """

    processor: float
    wall_limit: float


@dataclass(eq=False)
class ChildSession(Session):
    """A submission in a child process; after any death a new child serves the next request.

    Args:
        launcher: makes the child processes.
        submission: its files are sent to each of them.
        limits: of time and memory.
        owns_launcher: whether the launcher is closed with the session.
        slack: seconds beyond its own time in which a child may end a request by itself.
        beside: the session whose time for the whole submission is that of this one as well.
        answers: what the submission may ask back; None for nothing.
        assignments: those whose exercises are asked for, by id; None for all.
        time_left: what is left of the time for the whole submission.
        restarts: how many of its processes were ended though they served well.
        place: the statement that a request ran last, where it loads a file: the file's key, and the
            numbers of the cell and of the statement in it.
        stops: the statements before which loading stops, each with why: "timeout", or how the
            process ended.
    """

    launcher: Launcher
    submission: Submission
    limits: Limits
    owns_launcher: bool = field(default=False, kw_only=True)
    slack: float = field(default=SLACK, kw_only=True)
    beside: "ChildSession | None" = field(default=None, kw_only=True)
    answers: Answers | None = field(default=None, kw_only=True)
    assignments: Set[str] | None = field(default=None, kw_only=True)
    time_left: TimeLeft = field(init=False)
    generation: int = field(default=1, init=False)
    restarts: int = field(default=0, init=False)
    child: Child | None = field(default=None, init=False)
    reader: Reader = field(default_factory=Reader, init=False)
    is_fresh: bool = field(default=False, init=False)
    clock: ProcessClock | None = field(default=None, init=False)
    place: tuple[str, int, int] | None = field(default=None, init=False)
    stops: list[tuple[str, int, int, str]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.isolation = self.launcher.isolation
        beside = self.beside
        self.time_left = _time_of(self.limits) if beside is None else beside.time_left
        self.stops = [] if beside is None else beside.stops

    def apart(self, answers: Answers | None = None) -> "ChildSession":
        """A child of its own by the same launcher."""
        return self._beside(self.limits, answers)

    def of(self, submission: Submission) -> "ChildSession":
        """A child of another submission by the same launcher."""
        return ChildSession(self.launcher, submission, self.limits, slack=self.slack)

    def within(self, limits: Limits) -> "ChildSession | None":
        """A child of its own by the same launcher, where the system can limit its memory."""
        if not LIMITS_MEMORY:
            return None
        return self._beside(limits)

    def _beside(self, limits: Limits, answers: Answers | None = None) -> "ChildSession":
        return ChildSession(
            self.launcher,
            self.submission,
            limits,
            slack=self.slack,
            beside=self,
            answers=answers or self.answers,
            assignments=self.assignments,
        )

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
        return encode(Frame(header, frame.payload)), min(
            seconds, max(0.0, self.time_left.processor)
        )

    def decode(self, reply: Raw | OwnFrame) -> Frame:
        """A reply as a frame; a child whose reply is malformed is ended."""
        if isinstance(reply, OwnFrame):
            return reply
        try:
            return reply.frame()
        except WireFault as error:
            return self._malformed(error)

    @property
    def numbering(self) -> int:
        """Decides the numbers of instances: 1 until a process has ended by what it ran."""
        return self.generation - self.restarts

    def exchange_all(self, requests: Sequence[bytes], seconds: float) -> list[Raw | OwnFrame]:
        """Send requests at once, and return the replies as they came, up to the first failure."""
        unsent, replies = batch(requests), list[Raw | OwnFrame]()
        while len(replies) < len(requests):
            left = min(seconds, max(0.0, self.time_left.processor))
            reply = self.exchange(unsent, left)
            replies.append(reply)
            if isinstance(reply, OwnFrame) and self.child is not None:
                self._end()  # for want of time: it has more replies than anybody waits for
            if isinstance(reply, OwnFrame) or reply.header.startswith(FAILED):
                break
            unsent = b""
        return replies

    def exchange(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        """Send a request, if it is not sent already, and return the reply as it came."""
        if self.time_left.processor <= 0:
            total = f"{self.limits.submission_seconds:g}"
            template = _("the {seconds} seconds for the whole submission are used up")
            return failed("timeout", template.format(seconds=total))
        if self.time_left.wall_limit <= 0:
            return failed("busy", "")
        if self.child is None:
            self._start()
        self.place = None
        try:
            return self._timed(request, seconds)
        except NotScheduled:
            self._end()
            return failed("busy", "")
        except TimeoutError:
            self._end()
            template = _("your code was still running after {seconds} seconds")
            why = failed("timeout", template.format(seconds=f"{seconds:g}"))
            return self._loaded_without(request, seconds, "timeout") or why
        except (EOFError, ConnectionError):
            status = self._end(PATIENCE)
            why = failed("crashed", death(status))
            return self._loaded_without(request, seconds, f"{status}") or why
        except WireFault as error:
            return self._malformed(error)

    def _timed(self, request: bytes, seconds: float) -> Raw:
        """The reply to a request; what it takes is taken from the submission's time."""
        watch, started = self._watch(seconds), time.monotonic()
        try:
            with own_time.paused():
                return self._exchange(request, watch)
        finally:
            self.time_left.processor -= watch.taken()
            self.time_left.wall_limit -= time.monotonic() - started

    def _watch(self, seconds: float) -> Stopwatch:
        if self.child is None or self.clock is None:
            raise GraderFault("there is no child to ask")
        wall_limit = min(BUSY * seconds, self.time_left.wall_limit)
        return Stopwatch(self.child.connection, self.clock, seconds, self.slack, wall_limit)

    def _loaded_without(self, request: bytes, seconds: float, why: str) -> Raw | OwnFrame | None:
        """The reply to loading a file in a new child, up to the statement that ended the last one.

        Args:
            request: the one that was under way.
            seconds: what it may take.
            why: how it ended.

        Returns:
            None where that statement is not known, or too many were.
        """
        if not request or self.place is None or len(self.stops) >= MOST_STOPS:
            return None
        if decode_header(_header(request))["verb"] != "open":
            return None
        self.stops.append((*self.place, why))
        return self.exchange(request, seconds)

    def restart(self) -> None:
        """Have a new child serve the next request."""
        self._end()
        self.restarts += 1

    def _malformed(self, error: WireFault) -> OwnFrame:
        self._end()
        template = _("its process sent a malformed reply: {error}")
        return failed("crashed", template.format(error=error))

    def _start(self) -> None:
        try:
            needed = (*self.submission.libraries(self.assignments), *self.launcher.packages)
            limits = importing(self.limits, needed)
            self.child = self.launcher.launch(limits, self.numbering)
            self.clock = ProcessClock(self.child.pid)
            self.reader = Reader()
            greeting = self.reader.receive(_Deadline(self.child.connection, START_SECONDS))
            header = greeting.frame().header
            if "fault" in header:
                raise NoProcessFault(f"a child process could not be confined: {header['fault']}")
            self._send_sources(self.child)
        except (EOFError, OSError, WireFault) as error:
            self._end()
            raise NoProcessFault(f"a child process could not be started ({error!r})") from error

    def _send_sources(self, child: Child, *, instead: bool = False) -> None:
        for sources in self._sources():
            header = {"verb": "sources", "sources": sources, "stops": self.stops}
            known = {"awaited": self.submission.modules, "lent": self.submission.lent}
            if self.answers is not None:
                header["answered"] = self.answers.parameters
            request = encode(Frame({**header, **known, "instead": instead}))
            reply = self._exchange(request, _Deadline(child.connection, START_SECONDS))
            if reply.header.startswith(FAILED):
                raise WireFault("the process cannot serve these files")
            instead = False
        for name, path in self.submission.files.items():
            request = encode(Frame({"verb": "file", "path": name}, path.read_bytes()))
            self._exchange(request, _Deadline(child.connection, START_SECONDS))

    def serve(self, submission: Submission) -> None:
        """Serve another submission, in the same process where that goes as in a new one.

        For code of the course alone, such as its known mistakes: a student's might prepare something
        for the next.
        """
        is_prepared = {*submission.libraries()} <= {*self.submission.libraries(self.assignments)}
        self.submission, self.stops, self.is_fresh = submission, [], False
        self.time_left = _time_of(self.limits)
        if self.child is not None and self.numbering == 1 and is_prepared:
            with suppress(EOFError, OSError, WireFault):
                self._send_sources(self.child, instead=True)
                return
        self._end()
        self.generation, self.restarts = 1, 0

    def _sources(self) -> Iterator[dict[str, Any]]:
        """The files of the submission, as many at once as fit into one request."""
        sources: dict[str, Any] = {}
        size = 0
        for key, source in self.submission.sources.items():
            size += len(source.text)
            if sources and size > MOST_TEXT:
                yield sources
                sources, size = {}, len(source.text)
            sources[key] = source.header()
        yield sources

    def _exchange(self, request: bytes, stream: "_Deadline | Stopwatch") -> Raw:
        if self.answers is not None:
            self.answers.begin()
        stream.sendall(request)
        while True:
            reply = self.reader.receive(stream)
            if reply.header.startswith(PROGRESS):
                self.place = _place(decode_header(reply.header).get("at"))
            elif self.answers is not None and is_question(question := reply.frame()):
                started = time.monotonic()
                answer = encode(self.answers.to(question))
                stream.leave_out(time.monotonic() - started)
                stream.sendall(answer)
            else:
                return reply

    def _end(self, patience: float = 0.0) -> int | None:
        child, self.child = self.child, None
        clock, self.clock = self.clock, None
        if clock is not None:
            clock.close()
        self.generation += 1
        return child.end(patience) if child is not None else None

    def close(self) -> None:
        """End the child, if one is running, and the launcher if it is this session's own."""
        self._end()
        if self.owns_launcher:
            self.launcher.close()


def _time_of(limits: Limits) -> TimeLeft:
    """What a submission may take in all."""
    return TimeLeft(limits.submission_seconds, BUSY * limits.submission_seconds)


def _header(request: bytes) -> bytes:
    """The header of a request as it is sent."""
    size, _payload = PREFIX.unpack_from(request)
    return request[PREFIX.size : PREFIX.size + size]


def _place(content: object) -> tuple[str, int, int] | None:
    """A statement as a child names it; None for anything else."""
    match content:
        case [str(key), int(cell), int(statement)]:
            return key, cell, statement
    return None
