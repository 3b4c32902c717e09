"""What every way of running a servant has in common: frames out, frames back."""

from typing import Any, Protocol

from grader.sandbox.wire import Frame


class Session(Protocol):
    """A conversation with one servant.

    Attributes:
        isolation: the layers around student code, for the record; empty for none.
        generation: counts the processes that served so far; instances of an earlier one are gone.
    """

    isolation: tuple[str, ...]
    generation: int

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Send a request and wait at most that long; what goes wrong is a failure in the answer."""

    def close(self) -> None:
        """End the conversation; nothing of it is left behind."""


class OwnFrame(Frame):
    """An answer written by the trusted side: only its words on a failure are ours."""


def failed(kind: str, message: str) -> OwnFrame:
    """An answer written by the trusted side for a servant that gave none."""
    failure: dict[str, Any] = {"kind": kind, "type": "", "bases": [], "message": message}
    return OwnFrame({"failure": failure})
