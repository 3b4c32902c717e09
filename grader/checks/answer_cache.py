"""Remembers how checks that passed were answered, so that the same answers are judged once.

A check is a function of the answers it gets: its inputs are drawn from the run's seed, and the
reference's answers are fixed. Most right solutions of an exercise answer with the same bytes. The
first student's requests and answers are therefore kept for each check that passed; for the next
student the kept requests are sent, and as long as the bytes that come back are known ones, nothing
needs to be unpacked, compared or packed anew. At the first answer nobody gave before, the check
itself runs, with the answers already in hand. A check that does not pass always runs itself.
"""

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

from grader.sandbox.wire import Raw
from grader.sessions.base import OwnFrame
from grader.sessions.child import ChildSession

MOST_FILES = 8
"""Names of files, per check, for which requests are kept: they stand in the requests."""
MOST_WAYS = 16
"""Ways to pass that are kept per check and file."""

End = TypeVar("End")


@dataclass(slots=True)
class _Step(Generic[End]):
    """A request, and what comes after each answer to it: another request, or the end."""

    request: bytes
    after: "dict[bytes, _Step[End] | End]" = field(default_factory=dict)


@dataclass(slots=True)
class AnswerCache(Generic[End]):
    """What is remembered of the checks of a run, by check and file.

    Args:
        end: the type of what a check that passed ends in.
    """

    end: type[End]
    first: dict[str, dict[str, _Step[End]]] = field(default_factory=dict)
    ways: dict[tuple[str, str], int] = field(default_factory=dict)

    def replay(self, check: str, file: str, session: ChildSession) -> End | None:
        """Send the requests known for a check; None as soon as an answer is not known.

        What was asked and answered is then at hand in the session, for the check itself.
        """
        session.listen()
        step: _Step[End] | End | None = self.first.get(check, {}).get(file)
        if not session.is_first or not session.has_time:
            return None
        while isinstance(step, _Step):
            answer = session.exchange(step.request, session.limits.request_seconds)
            if isinstance(answer, OwnFrame):
                return None
            step = step.after.get(_digest(answer))
        return step

    def keep(self, check: str, file: str, session: ChildSession, end: End) -> None:
        """Remember how a check that passed was answered."""
        files = self.first.setdefault(check, {})
        key = (check, file)
        known = file in files
        is_full = self.ways.get(key, 0) >= MOST_WAYS or not (known or len(files) < MOST_FILES)
        heard = session.heard
        if is_full or not heard or not session.is_first or not session.has_time:
            return
        step = files.setdefault(file, _Step(heard[0].request))
        for here, following in pairwise(heard):
            if step.request != here.request or isinstance(here.answer, OwnFrame):
                return
            found = step.after.setdefault(_digest(here.answer), _Step(following.request))
            if not isinstance(found, _Step):
                return
            step = found
        last = heard[-1].answer
        if step.request == heard[-1].request and not isinstance(last, OwnFrame):
            step.after.setdefault(_digest(last), end)
            self.ways[key] = self.ways.get(key, 0) + 1


def _digest(answer: Raw) -> bytes:
    digest = hashlib.blake2b(answer.header, digest_size=16, salt=b"%d" % len(answer.header))
    digest.update(answer.payload)
    return digest.digest()
