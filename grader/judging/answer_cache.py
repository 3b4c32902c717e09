"""Remembers the replies to checks that passed, so that the same replies are judged once.

A check is a function of the replies it gets: its inputs are drawn from the run's seed, and the
solution's values are fixed. Most right submissions reply with the same bytes. For each check that
passed, the requests and replies of the first student are therefore kept. For the next student, where
the replies are known bytes, nothing has to be unpacked, compared or packed again. At the first unknown
reply the check itself runs, with the replies received so far. A check that does not pass always runs
itself.

The requests of an exercise's checks are sent at once, as the solution was asked (`expected_requests`).

What a check asks may also depend on what is no reply: on the files that it looks into and on how their
classes are written. That is in the key (`SubmissionHandle.asked_as`). Where a check asks something else
all the same, it runs from its start, in a process that was asked nothing for it.
"""

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.course.course import Limits
from grader.sandbox.stream import Raw
from grader.sandbox.wire import Frame
from grader.sessions.answers import Answers
from grader.sessions.base import AsksOtherwise, OwnFrame, Session
from grader.sessions.child import ChildSession
from grader.submissions.submission import Submission

MOST_FILES = 16
"""Ways to ask a submission, per check, that requests are kept for: they contain names of files."""
MOST_WAYS = 16
"""Ways to pass that are kept per check and way to ask."""
SPARE_SECONDS = 5.0
"""Seconds beyond those of one request; with less than that left, nothing is remembered."""


Way = tuple[tuple[bytes, bytes], ...]
"""Requests as they are sent, each with the digest of its reply."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as it was sent, and the reply as it came."""

    request: bytes
    reply: Raw | OwnFrame

    @property
    def step(self) -> tuple[bytes, bytes]:
        """The request with a digest of the reply; none of a reply that is not the child's own."""
        if isinstance(self.reply, OwnFrame):
            return self.request, b""
        header = self.reply.header
        digest = hashlib.blake2b(header, digest_size=16, salt=b"%d" % len(header))
        digest.update(self.reply.payload)
        return self.request, digest.digest()


@dataclass(slots=True)
class AnswerCache:
    """The ways to pass the checks of a run that are known, and what each check ended in.

    Args:
        ways: by check, and by what decides its requests beside replies.
    """

    ways: dict[str, dict[str, dict[Way, Any]]] = field(default_factory=dict)

    def know(self, check: str, asked: str, way: Way, end: object) -> None:
        """Remember by which requests and replies a check passed.

        Args:
            check: its id.
            asked: what decides the requests, beside replies.
            way: what was asked and replied.
            end: what `AnswerCacheSession.begin` returns for these replies from now on.
        """
        files = self.ways.setdefault(check, {})
        if asked in files or len(files) < MOST_FILES:
            ways = files.setdefault(asked, {})
            if len(ways) < MOST_WAYS:
                ways.setdefault(way, end)


@dataclass(slots=True)
class AnswerCacheSession(Session):
    """A child session that knows the replies of other submissions.

    Args:
        inner: the submission's child process.
        check: the id of the check that is under way, "" between two.
        asked: what decides its requests, beside replies; "" where nothing may be remembered.
        transcript: its requests and replies so far.
        replies: what came in already for requests that the check has not made yet.
        ahead: the same of the checks that have not begun.
        sent_in: the process that `ahead` and `replies` came from.
    """

    inner: ChildSession
    cache: AnswerCache
    check: str = ""
    asked: str = ""
    transcript: list[Exchange] = field(default_factory=list)
    replies: deque[Exchange] = field(default_factory=deque)
    ahead: dict[str, deque[Exchange]] = field(default_factory=dict)
    sent_in: int = 1

    @property
    def isolation(self) -> tuple[str, ...]:  # type: ignore[override]
        """The layers around student code."""
        return self.inner.isolation

    @property
    def generation(self) -> int:  # type: ignore[override]
        """The process that served last, as the check can know it."""
        return self.sent_in if self.replies or self.ahead else self.inner.generation

    @property
    def _can_remember(self) -> bool:
        return bool(self.asked) and self._is_plain

    @property
    def _is_plain(self) -> bool:
        """Whether requests do not depend on a process that died or on the time that is left."""
        limits, time_left = self.inner.limits, self.inner.time_left
        has_time = time_left.processor > limits.request_seconds + SPARE_SECONDS
        return self.inner.numbering == 1 and has_time

    def within(self, limits: Limits) -> ChildSession | None:
        """A child of its own, whose replies are not remembered."""
        return self.inner.within(limits)

    def apart(self, answers: Answers | None = None) -> Session:
        """Another child of the submission's, which knows the same replies if it asks nothing back."""
        session = self.inner.apart(answers)
        return AnswerCacheSession(session, self.cache) if answers is None else session

    def of(self, submission: Submission) -> ChildSession:
        """A child of another submission."""
        return self.inner.of(submission)

    def may_send_ahead(self, check: str) -> bool:
        """Whether requests may be sent for a check, and none were, before it begins."""
        return self._is_plain and check not in self.ahead

    def send_ahead(self, requests: Mapping[str, Sequence[bytes]]) -> None:
        """Send what the checks that come next are expected to ask, by their ids in order."""
        sent = [(check, request) for check in requests for request in requests[check]]
        self.sent_in = self.inner.generation
        seconds = self.inner.limits.request_seconds
        replies = self.inner.exchange_all([request for _check, request in sent], seconds)
        for (check, request), reply in zip(sent, replies, strict=False):  # some may be missing
            self.ahead.setdefault(check, deque()).append(Exchange(request, reply))

    def begin(self, check: str, asked: str = "") -> Any:
        """Take up what came in for a check; ask what else is known as long as the replies are."""
        self.check, self.asked, self.transcript = check, asked, []
        if not asked:
            self.ahead = {}
        self.replies = self.ahead.pop(check, deque())
        known = self.cache.ways.get(check, {}).get(asked, {}) if self._can_remember else {}
        if not known:
            return None
        heard = tuple(exchange.step for exchange in self.replies)
        ways = [way for way in known if way[: len(heard)] == heard]
        while ways and heard not in known and not self.ahead:
            request = ways[0][len(heard)][0]
            reply = self.inner.exchange(request, self.inner.limits.request_seconds)
            self.sent_in = self.inner.generation
            self.replies.append(Exchange(request, reply))
            heard = (*heard, self.replies[-1].step)
            ways = [way for way in ways if way[: len(heard)] == heard]
        if heard not in known:
            return None
        self.check, self.replies = "", deque()
        return known[heard]

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply from what came in already, or else ask the child.

        Raises:
            AsksOtherwise: when the check asks something else, or more, than was sent for it.
        """
        if frame.header["verb"] == "forget":
            return self.inner.ask(frame, seconds)
        request, seconds = self.inner.encode(frame, seconds)
        if self.replies:
            known = self.replies.popleft()
            if known.request != request:
                raise AsksOtherwise
        elif self.ahead and self.check:  # its instances are gone
            raise AsksOtherwise
        else:
            known = Exchange(request, self.inner.exchange(request, seconds))
        self.transcript.append(known)
        reply = self.inner.decode(known.reply)
        if isinstance(reply, OwnFrame):
            self.ahead.clear()
        return reply

    def restart(self) -> None:
        """Forget what was replied for the check that is under way, also in the child."""
        self.asked, self.transcript, self.replies, self.ahead = "", [], deque(), {}
        self.inner.restart()

    def conclude(self, end: object | None) -> None:
        """Remember the replies to the check that is under way, if it passed."""
        is_known = end is not None and bool(self.transcript) and not self.replies
        is_own = not any(isinstance(exchange.reply, OwnFrame) for exchange in self.transcript)
        if is_known and is_own and self._can_remember:
            way = tuple(exchange.step for exchange in self.transcript)
            self.cache.know(self.check, self.asked, way, end)
        self.check, self.replies = "", deque()

    def close(self) -> None:
        """Close the child session."""
        self.inner.close()
