"""Replies of the reference that are computed once: kept in memory, or read from a recording.

A check's transcript is its requests after `begin`, and the replies to them.
"""

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import GraderFault
from grader.sandbox.wire import Frame
from grader.sessions.base import Session

MAX_KEPT = 20_000
Transcripts = dict[str, list[tuple[str, Frame]]]
"""Per check, in order: the shape of each request, and the reply."""


@dataclass(slots=True)
class _AroundSession(Session):
    """A session that asks another one."""

    inner: Session

    def close(self) -> None:
        """Close the other session."""
        self.inner.close()


@dataclass(slots=True)
class CachedSession(_AroundSession):
    """Keeps the replies of another session by all the requests that led to them.

    A reply depends on the instances made before it, so it is looked up by all requests of its check
    so far. Only when these are new is the other session asked, after it was sent the earlier ones.

    Args:
        kept: the replies, by a digest of the requests that led to them.
        opened: the replies to loading a file, by its key.
        requests: those of the check that is under way.
        digest: of these requests.
        live: whether the other session was sent these requests.
    """

    kept: OrderedDict[bytes, Frame] = field(default_factory=OrderedDict)
    opened: dict[str, Frame] = field(default_factory=dict)
    requests: list[Frame] = field(default_factory=list)
    digest: bytes = b""
    live: bool = False

    def begin(self, check: str, asked: str = "") -> None:
        """A check begins."""
        self.requests, self.digest, self.live = [], b"", False

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply from memory where these requests are known."""
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
            if not self.live:
                self.live = True
                for earlier in (Frame({"verb": "forget"}), *self.requests):
                    self.inner.ask(earlier, seconds)
            self.kept[self.digest] = self.inner.ask(frame, seconds)
            if len(self.kept) > MAX_KEPT:
                self.kept.popitem(last=False)
        self.requests.append(frame)
        return self.kept[self.digest]


def shape_of(frame: Frame) -> str:
    """What a request asks, without its tensors' values.

    Fixed inputs that are drawn may differ in the last bit between processors.
    """
    text = json.dumps(frame.header, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=12).hexdigest()


@dataclass(slots=True)
class RecordingSession(_AroundSession):
    """Passes requests on and keeps, per check, the transcript."""

    transcripts: Transcripts = field(default_factory=dict)
    current: list[tuple[str, Frame]] = field(default_factory=list)

    def begin(self, check: str, asked: str = "") -> None:
        """Start the transcript of a check."""
        self.current = self.transcripts[check] = []
        self.inner.ask(Frame({"verb": "forget"}), 1.0)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Pass on, and keep request and reply."""
        reply = self.inner.ask(frame, seconds)
        if frame.header["verb"] not in ("open", "forget"):
            self.current.append((shape_of(frame), reply))
        return reply


@dataclass(slots=True)
class RecordedSession(Session):
    """Replies to the requests of a check as the reference did when the recording was made.

    Args:
        opened: per file of the solution, what loading it reports: its names and classes.
        check: the check that is under way.
        position: how many of its requests were made.
    """

    transcripts: Transcripts
    opened: dict[str, dict[str, Any]]
    check: str = ""
    position: int = 0

    def begin(self, check: str, asked: str = "") -> None:
        """Go to the transcript of a check."""
        self.check, self.position = check, 0

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """The recorded reply.

        Raises:
            GraderFault: when the check asks something else than when it was recorded.
        """
        del seconds
        if frame.header["verb"] == "open":
            return Frame({"failures": [], **self.opened[frame.header["source"]]})
        if frame.header["verb"] == "forget":
            return Frame({})
        transcript = self.transcripts.get(self.check, [])
        if self.position >= len(transcript) or transcript[self.position][0] != shape_of(frame):
            raise GraderFault(
                f"the recording does not fit the check {self.check}; "
                "the course and its recordings come from different releases"
            )
        self.position += 1
        return transcript[self.position - 1][1]
