"""What checks ask of the solution, as it is kept, and as it is asked of another file."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.sandbox.wire import PREFIX, Frame, decode_header, encode, split

SOURCE = b'"source":%s'
"""How a request's header names the file that is asked."""


@dataclass(frozen=True, slots=True)
class SolutionRequests:
    """What is asked of the solution.

    Args:
        file: the one that is asked.
        how: which of its classes are asked, and with which arguments (`Located.asked_as`).
        requests: by check; of those that ask this file alone.
    """

    file: str
    how: str
    requests: Mapping[str, tuple[bytes, ...]]

    def of(self, file: str, how: str) -> Mapping[str, tuple[bytes, ...]]:
        """What is asked of another file by check; nothing where its classes are not asked alike."""
        if how != self.how.replace(self.file, file, 1):
            return {}
        if file == self.file:
            return self.requests
        ours, theirs = (SOURCE % encoded(name) for name in (self.file, file))
        return {
            check: tuple(_with_source(request, ours, theirs) for request in requests)
            for check, requests in self.requests.items()
        }

    def written(self) -> bytes:
        """As `read_requests` reads it."""
        counts = {check: len(requests) for check, requests in self.requests.items()}
        about = encode(Frame({"file": self.file, "how": self.how, "checks": counts}))
        return about + b"".join(one for requests in self.requests.values() for one in requests)


def encoded(name: str) -> bytes:
    """A text as it stands in a header."""
    return encode(Frame({"": name}))[PREFIX.size + 4 : -1]


def _with_source(request: bytes, ours: bytes, theirs: bytes) -> bytes:
    ((header, payload),) = split(request)
    return _frame(header.replace(ours, theirs), payload)


def read_requests(content: bytes) -> SolutionRequests:
    """What was asked, from what was written."""
    (about, _nothing), *frames = split(content)
    header, requests = decode_header(about), iter(frames)
    found = {
        check: tuple(_frame(*next(requests)) for _number in range(count))
        for check, count in header["checks"].items()
    }
    return SolutionRequests(header["file"], header["how"], found)


def _frame(header: bytes, payload: bytes) -> bytes:
    return PREFIX.pack(len(header), len(payload)) + header + payload
