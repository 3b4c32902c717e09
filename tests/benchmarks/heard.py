"""What submissions cost, as counts: requests, frames, bytes there and back, processes."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from grader.sessions.child import ChildSession


@dataclass
class Heard:
    """What one submission cost: what it replied to, how much went to and fro, how many processes."""

    requests: list[bytes] = field(default_factory=list)
    frames: int = 0
    sent: int = 0
    received: int = 0
    processes: int = 0

    def __str__(self) -> str:
        """One sentence, to see when that grows."""
        return (
            f"{len(self.requests)} requests in {self.frames} frames, {self.sent} bytes there and "
            f"{self.received} back, {self.processes} processes"
        )


@contextmanager
def heard() -> Iterator[Heard]:
    """Listen to all children that this process has."""
    found, start = Heard(), ChildSession._start
    exchange, exchange_all = ChildSession.exchange, getattr(ChildSession, "exchange_all", None)
    in_batch: list[ChildSession] = []

    def received(reply: Any) -> None:
        found.received += len(reply.header) + len(reply.payload)

    def listening(session: ChildSession, request: bytes, seconds: float) -> Any:
        if request:
            found.frames += 1
            found.sent += len(request)
        reply = exchange(session, request, seconds)
        if session not in in_batch:
            found.requests.append(request)
            received(reply)
        return reply

    def listening_to_all(session: ChildSession, requests: Sequence[bytes], seconds: float) -> Any:
        in_batch.append(session)
        try:
            replies = exchange_all(session, requests, seconds)  # type: ignore[misc]
        finally:
            in_batch.remove(session)
        found.requests += requests[: len(replies)]
        for reply in replies:
            received(reply)
        return replies

    def starting(session: ChildSession) -> None:
        found.processes += 1
        start(session)

    with ExitStack() as stack:
        stack.enter_context(patch.object(ChildSession, "exchange", listening))
        stack.enter_context(patch.object(ChildSession, "_start", starting))
        if exchange_all is not None:  # earlier commits sent one after the other
            stack.enter_context(patch.object(ChildSession, "exchange_all", listening_to_all))
        yield found
