"""Replies of the reference that are computed once: kept in memory, or read from a recording.

A check's transcript is its requests after `begin`, and the replies to them.
"""

import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from grader.core.errors import GraderFault
from grader.sandbox.wire import Frame
from grader.sessions.base import Session

MAX_KEPT = 20_000
Kept = dict[str, tuple[dict[str, Any], bytes]]
"""Replies as they are kept: header and payload, by what was asked."""
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
class Replies:
    """What a reference replied.

    Args:
        kept: the replies, by the key of a file for loading it, else by a digest of the requests that
            led to them; the one that was used last comes last.
        used: the keys of those that were used since somebody emptied it, at most so many.
        change: what is made of each before it is handed out.
    """

    kept: OrderedDict[str, Frame] = field(default_factory=OrderedDict)
    used: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_KEPT))
    change: Callable[[Frame], Frame] = lambda reply: reply

    def of(self, key: str, ask: Callable[[], Frame], *, anew: bool = False) -> Frame:
        """The reply that is known, else what comes when the reference is asked."""
        self.used.append(key)
        reply = ask() if anew or key not in self.kept else self.kept[key]
        self._keep(key, reply)
        return self.change(reply)

    @contextmanager
    def changed(self, change: Callable[[Frame], Frame]) -> Iterator[None]:
        """Hand out replies that are changed; those that are kept are as they were."""
        before, self.change = self.change, change
        try:
            yield
        finally:
            self.change = before

    def take(self, known: Kept) -> None:
        """Know what a reference replied in another process."""
        for key, (header, payload) in known.items():
            self._keep(key, Frame(header, payload))

    def those_used(self) -> Kept:
        """What was used since `used` was emptied."""
        found = ((key, self.kept[key]) for key in self.used if key in self.kept)
        return {key: (reply.header, reply.payload) for key, reply in found}

    def _keep(self, key: str, reply: Frame) -> None:
        self.kept[key] = reply
        self.kept.move_to_end(key)
        if len(self.kept) > MAX_KEPT:
            self.kept.popitem(last=False)


@dataclass(slots=True)
class CachedSession(_AroundSession):
    """Keeps the replies of another session by all the requests that led to them.

    A reply depends on the instances made before it, so it is looked up by all requests of its check
    so far. Only when these are new is the other session asked, after it was sent the earlier ones.

    Args:
        replies: what is known.
        requests: those of the check that is under way.
        digest: of these requests.
        live: whether the other session was sent these requests.
    """

    replies: Replies = field(default_factory=Replies)
    requests: list[Frame] = field(default_factory=list)
    digest: bytes = b""
    live: bool = False

    def begin(self, check: str, asked: str = "") -> None:
        """A check begins."""
        self.requests, self.digest, self.live = [], b"", False

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply from memory where these requests are known."""
        if frame.header["verb"] == "open":
            return self.replies.of(frame.header["source"], lambda: self.inner.ask(frame, seconds))
        if frame.header["verb"] == "forget":
            return Frame({})
        text = json.dumps(frame.header, sort_keys=True).encode()
        self.digest = hashlib.blake2b(self.digest + text + frame.payload).digest()
        self.requests.append(frame)
        return self.replies.of(self.digest.hex(), partial(self._live, seconds), anew=self.live)

    def _live(self, seconds: float) -> Frame:
        """What the other session replies to the last request, once it was sent the earlier ones."""
        *earlier, last = self.requests
        if not self.live:
            self.live = True
            for request in (Frame({"verb": "forget"}), *earlier):
                self.inner.ask(request, seconds)
        return self.inner.ask(last, seconds)


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
