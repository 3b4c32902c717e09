"""What checks ask the solution, so that it can be asked of a submission before they run, all at once.

A check's requests hardly ever depend on the replies. Where they do, they are not sent ahead: they would
hold what the solution replied. To see it, each check is run on the solution a second time, with replies
that differ in their last bits. What the solution replied is kept beside, so that it need not run again.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from msgspec import msgpack

from grader.core.errors import GraderFault
from grader.core.kept import kept
from grader.core.records import Visibility
from grader.course.course import Exercise
from grader.course.outcome_parts import everything_of
from grader.judging.fixtures import CheckEnvironment
from grader.judging.run import Check
from grader.judging.solution_requests import SolutionRequests
from grader.sandbox.plain_data import ARRAYS, DTYPES
from grader.sandbox.wire import Frame, encode
from grader.sessions.base import Session
from grader.sessions.reference_sessions import Kept
from grader.testing.lookup import SubmissionHandle

MOST_KEPT = 1024
"""Files that are kept: an exercise of a class has one."""
FLOATS = {
    "float16": ("H", 0x7C00),
    "bfloat16": ("H", 0x7F80),
    "float32": ("I", 0x7F80_0000),
    "float64": ("Q", 0x7FF0_0000_0000_0000),
}
"""By dtype, how one float is read as a whole number, and the bits of its exponent."""
NUMBERS = 16
"""Bytes by which a tensor is found again."""
VARIED = 6
"""Different ones among them, so that they are no zeros or ones."""


@dataclass(slots=True)
class Listening(Session):
    """A session with the solution that keeps what a check asks, as it would be sent to a child.

    Args:
        inner: the session.
        requests: of the check that is under way.
        replies: what came back for them.
        files: those that it asked.
    """

    inner: Session
    requests: list[bytes] = field(default_factory=list)
    replies: list[Frame] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    is_fresh: bool = False

    def begin(self, check: str, asked: str = "") -> None:
        """A check begins."""
        self.requests, self.replies, self.files = [], [], set()
        self.inner.begin(check)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Keep a request, and pass it on."""
        verb = frame.header["verb"]
        reply = self.inner.ask(frame, seconds)
        if verb == "forget":
            self.is_fresh = True
            return reply
        self.files.add(frame.header.get("source", ""))
        if verb != "open":
            header = {**frame.header, "fresh": self.is_fresh}
            self.requests.append(encode(Frame(header, frame.payload)))
            self.replies.append(reply)
            self.is_fresh = False
        return reply


def shaken(reply: Frame) -> Frame:
    """A reply whose numbers differ in their last bits, but for zeros; nothing of one that is unknown."""
    chunks = _chunks(reply)
    if b"".join(chunk for _dtype, chunk in chunks) != reply.payload:
        return Frame({})
    payload = b"".join(_shaken(chunk, dtype) for dtype, chunk in chunks)
    return Frame(_shaken_floats(reply.header), payload)


def _chunks(reply: Frame) -> list[tuple[str, bytes]]:
    """The parts of a payload in their order: of which dtype, and the bytes."""
    found: list[tuple[str, bytes]] = []
    left = BytesIO(reply.payload)

    def look_into(node: Any) -> None:
        match node:
            case {"tensor": [str(dtype), list(shape), *_]} | {"array": [str(dtype), list(shape)]}:
                size = math.prod(shape) * (DTYPES.get(dtype) or ARRAYS[dtype])
                found.append((dtype, left.read(size)))
            case {"bytes": int(size)} | {"bytearray": int(size)}:
                found.append(("bytes", left.read(size)))
            case dict():
                look_into([*node.values()])
            case list():
                for inner in node:
                    look_into(inner)

    look_into(reply.header)
    return found


def _shaken(chunk: bytes, dtype: str) -> bytes:
    """The same with another last bit of each float, but of zeros, infinities and what is no number."""
    if dtype not in FLOATS:
        return chunk
    kind, exponent = FLOATS[dtype]
    words = array(kind, chunk)
    return array(kind, [word ^ (word & exponent not in (0, exponent)) for word in words]).tobytes()


def _shaken_floats(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _shaken_floats(inner) for key, inner in node.items()}
    if isinstance(node, list):
        return [_shaken_floats(inner) for inner in node]
    return math.nextafter(node, math.inf) if isinstance(node, float) and node else node


def repeats(requests: Sequence[bytes], replies: Sequence[Frame]) -> bool:
    """Whether a request begins a tensor as an earlier reply does, which no request did before that."""
    asked, starts = b"", set[bytes]()
    for request, reply in zip(requests, replies, strict=True):
        if any(start in request for start in starts):
            return True
        asked += request
        began = {chunk[:NUMBERS] for _dtype, chunk in _chunks(reply) if len(chunk) >= NUMBERS}
        starts |= {start for start in began if len({*start}) > VARIED and start not in asked}
    return False


@dataclass(slots=True)
class ExpectedRequests:
    """What the checks of exercises ask of the solution, worked out once per course and seed.

    Args:
        environment: what checks are called with; it has the solution.
        asked: what was worked out, by exercise and checks.
    """

    environment: CheckEnvironment
    asked: dict[tuple[str, ...], SolutionRequests] = field(default_factory=dict)

    def of(self, exercise: Exercise, checks: Iterable[Check]) -> SolutionRequests:
        """What these checks of an exercise ask.

        Args:
            exercise: the exercise.
            checks: its checks, of one visibility.
        """
        chosen = [check for check in checks if not check.memory_mib]
        key = (exercise.id, *(check.id for check in chosen))
        if key not in self.asked:
            course, replies = self.environment.course, self.environment.replies
            is_drawn = any(check.visibility is Visibility.HIDDEN for check in chosen)
            seed = self.environment.seed if is_drawn else ""
            depends_on = [key, seed, everything_of(course, course.by_id[exercise.assignment])]

            def make() -> bytes:
                replies.used.clear()
                replies.used.append(self.environment.reference.locate(exercise).key)
                return msgpack.encode((self._ask(exercise, chosen), replies.those_used()))

            content = kept("requests", depends_on, make, most=MOST_KEPT)
            self.asked[key], known = msgpack.decode(content, type=tuple[SolutionRequests, Kept])
            replies.take(known)
        return self.asked[key]

    def _ask(self, exercise: Exercise, checks: Iterable[Check]) -> SolutionRequests:
        if self.environment.beside is None:
            raise GraderFault("there is no solution to ask")
        asked: dict[str, tuple[bytes, ...]] = {}
        solution, limits = self.environment.reference.submission, self.environment.course.limits
        with closing(self.environment.beside()) as inner:
            session = Listening(inner)
            handle = SubmissionHandle(solution, session, limits)
            handle.declared[exercise.id] = self.environment.declared(exercise)
            located = handle.locate(exercise)
            for check in checks:
                requests = self._requests(handle, session, check)
                asks_alone = session.files <= {located.key, ""}
                if not requests or not asks_alone or repeats(requests, session.replies):
                    continue
                with inner.replies.changed(shaken), self.environment.replies.changed(shaken):
                    if self._requests(handle, session, check, may_fail=True) == requests:
                        asked[check.id] = tuple(requests)
            how = located.asked_as(exercise.name, handle.declared[exercise.id])
        return SolutionRequests(located.key, how, asked)

    def _requests(
        self,
        handle: SubmissionHandle,
        session: Listening,
        check: Check,
        *,
        may_fail: bool = False,
    ) -> list[bytes] | None:
        """What a check asks of the solution; None where it fails and may not."""
        session.begin(check.id)
        environment = self.environment
        given = environment.fixtures(handle, check.exercise, check.id, check.visibility)
        record = check.run(given, environment)
        return session.requests if may_fail or record.raised is None else None
