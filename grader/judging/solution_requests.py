"""What checks ask of the solution, as it is kept, and as it is asked of another file."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.sandbox.wire import PREFIX, Frame, encode, split

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


def encoded(name: str) -> bytes:
    """A text as it stands in a header."""
    return encode(Frame({"": name}))[PREFIX.size + 4 : -1]


def _with_source(request: bytes, ours: bytes, theirs: bytes) -> bytes:
    ((header, payload),) = split(request)
    header = header.replace(ours, theirs)
    return PREFIX.pack(len(header), len(payload)) + header + payload
