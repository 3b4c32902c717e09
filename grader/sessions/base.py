"""What every way of running a servant has in common: frames out, frames back."""

import signal
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grader.core.language import _
from grader.course.course import Limits
from grader.sandbox.wire import Frame


class Session(Protocol):
    """A conversation with one servant.

    Attributes:
        isolation: the layers around student code, for the record; empty for none.
        generation: counts the processes that served so far; instances of an earlier one are gone.
    """

    isolation: tuple[str, ...] = ()
    generation: int = 1

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Send a request and wait at most this long; a failure is part of the reply."""

    def close(self) -> None:
        """End the conversation; nothing of it is left behind."""
        return

    def within(self, limits: Limits) -> "Session | None":
        """A session with the same submission in a process of its own; None where that cannot be.

        Args:
            limits: of that process; its memory is limited hard.
        """
        return None

    def apart(self, answers: Any = None) -> "Session | None":
        """A session with the same submission in another process, within the same time in all.

        None where there is only this process: nothing is kept from student code there.

        Args:
            answers: what the submission may ask back there.
        """
        return None

    def of(self, submission: Any) -> "Session | None":
        """A session with another submission in a process of its own; None where that cannot be."""
        return None

    def begin(self, check: str, asked: str = "") -> Any:
        """A check begins.

        Args:
            check: its id.
            asked: what decides its requests, beside replies, where they may be remembered.

        Returns:
            What it ends in, where that is known without running it, else None.
        """
        return None

    def may_send_ahead(self, check: str) -> bool:
        """Whether requests may be sent for a check, and none were, before it begins."""
        del check
        return False

    def send_ahead(self, requests: Mapping[str, Sequence[bytes]]) -> None:
        """Send what the checks that come next are expected to ask, by their ids in order."""
        return

    def conclude(self, end: object | None) -> None:
        """The check that was begun has run; this is what it ended in, where it passed."""
        return

    def restart(self) -> None:
        """Have a new process serve the next request, of which nothing is known."""
        return


class AsksOtherwise(BaseException):  # not an Exception: a check would take it for a failure
    """A check asks something else than was sent for it before it ran: it has to run again."""


class OwnFrame(Frame):
    """A reply written by the trusted side: only its words on a failure are ours."""


def failed(kind: str, message: str) -> OwnFrame:
    """A reply written by the trusted side for a servant that gave none."""
    failure: dict[str, Any] = {"kind": kind, "type": "", "bases": [], "message": message}
    return OwnFrame({"failure": failure})


def is_busy(reply: Frame) -> bool:
    """Whether student code got too little of the processor to reply."""
    return isinstance(reply, OwnFrame) and reply.header["failure"]["kind"] == "busy"


def death(status: int | None) -> str:
    """How the process of student code ended, in words; a signal's number is negative."""
    if status is not None and status < 0 and -status != signal.SIGKILL:
        template = _("the Python process of your code died of {signal}")
        names = {known.value: known.name for known in signal.Signals}  # but real-time signals
        return template.format(signal=names.get(-status, f"signal {-status}"))
    if status is not None and status >= 0:
        template = _("your code ended the Python process it ran in (exit status {status})")
        return template.format(status=status)
    return _("the Python process of your code ended without an answer")
