"""Reference answers that are worked out once: kept in memory, or read from a recording.

Both follow one check at a time: `begin` names the check, the requests after it are its trace.
"""

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field

from grader.core.errors import GraderFault
from grader.sandbox.wire import Frame
from grader.sessions.base import Session

MAX_KEPT = 20_000


@dataclass(slots=True)
class CachedSession:
    """Keeps the answers of another session by all the requests that led to them.

    An answer depends on the instances made before it, so it is looked up by the whole trace of
    its check. Only when a trace leaves the known path is the other session asked, after it was
    given the requests so far.
    """

    inner: Session
    kept: OrderedDict[bytes, Frame] = field(default_factory=OrderedDict)
    opened: dict[str, Frame] = field(default_factory=dict)
    trace: list[Frame] = field(default_factory=list)
    digest: bytes = b""
    live: bool = False
    generation: int = 1
    isolation: tuple[str, ...] = ()

    def begin(self, check: str) -> None:
        """Start the trace of a check."""
        del check
        self.trace, self.digest, self.live = [], b"", False

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Answer from memory where the trace is known."""
        if frame.header["verb"] == "open":
            key = frame.header["source"]
            if key not in self.opened:
                self.opened[key] = self.inner.ask(frame, seconds)
            return self.opened[key]
        if frame.header["verb"] == "forget":
            return Frame({})
        text = json.dumps(frame.header, sort_keys=True).encode()
        self.digest = hashlib.blake2b(self.digest + text + frame.payload).digest()
        if self.digest in self.kept and not self.live:
            self.kept.move_to_end(self.digest)
        else:
            self._catch_up(seconds)
            self.kept[self.digest] = self.inner.ask(frame, seconds)
            if len(self.kept) > MAX_KEPT:
                self.kept.popitem(last=False)
        self.trace.append(frame)
        return self.kept[self.digest]

    def _catch_up(self, seconds: float) -> None:
        """Bring the inner session to where this trace is."""
        if self.live:
            return
        self.live = True
        self.inner.ask(Frame({"verb": "forget"}), seconds)
        for earlier in self.trace:
            self.inner.ask(earlier, seconds)

    def close(self) -> None:
        """Close the other session."""
        self.inner.close()


def shape_of(frame: Frame) -> str:
    """What a request asks, without its tensors' values.

    Fixed inputs that are drawn may differ in the last bit between processors.
    """
    text = json.dumps(frame.header, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=12).hexdigest()


@dataclass(slots=True)
class RecordingSession:
    """Passes requests on and writes down, per check, what was asked and answered."""

    inner: Session
    traces: dict[str, list[tuple[str, Frame]]] = field(default_factory=dict)
    current: list[tuple[str, Frame]] = field(default_factory=list)
    generation: int = 1
    isolation: tuple[str, ...] = ()

    def begin(self, check: str) -> None:
        """Start the trace of a check."""
        self.current = self.traces[check] = []
        self.inner.ask(Frame({"verb": "forget"}), 1.0)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Answer, and write it down."""
        if frame.header["verb"] in ("open", "forget"):
            return self.inner.ask(frame, seconds)
        answer = self.inner.ask(frame, seconds)
        self.current.append((shape_of(frame), answer))
        return answer

    def close(self) -> None:
        """Close the other session."""
        self.inner.close()


@dataclass(slots=True)
class RecordedSession:
    """Answers the requests of a check as they were answered when the recording was made.

    Args:
        traces: per check, what was asked and answered, in order.
        names: per source, what it defines.
    """

    traces: dict[str, list[tuple[str, Frame]]]
    names: dict[str, list[str]]
    check: str = ""
    position: int = 0
    generation: int = 1
    isolation: tuple[str, ...] = ()

    def begin(self, check: str) -> None:
        """Go to the trace of a check."""
        self.check, self.position = check, 0

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """The recorded answer.

        Raises:
            GraderFault: when the check asks something else than when it was recorded.
        """
        del seconds
        if frame.header["verb"] == "open":
            return Frame({"failures": [], "names": self.names[frame.header["source"]]})
        if frame.header["verb"] == "forget":
            return Frame({})
        trace = self.traces.get(self.check, [])
        if self.position >= len(trace) or trace[self.position][0] != shape_of(frame):
            raise GraderFault(
                f"the recording does not fit the check {self.check}; "
                "the course and its recordings come from different releases"
            )
        self.position += 1
        return trace[self.position - 1][1]

    def close(self) -> None:
        """Nothing is held."""
