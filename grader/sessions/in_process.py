"""A servant in this very process: for debugging, for a notebook's own kernel, for solutions."""

from typing import Any

from grader.sandbox.loader import Loader, OutOfTime
from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame
from grader.sessions.base import failed
from grader.submissions.submission import Submission


class InProcessSession:
    """Runs a submission here. Values still travel as frames' contents, never as objects."""

    isolation: tuple[str, ...] = ()
    generation = 1

    def __init__(self, submission: Submission) -> None:
        self.servant = Servant(Loader(interactive=True), interactive=True)
        self.servant.sources.add({k: s.header() for k, s in submission.sources.items()})

    def adopt(self, key: str, namespace: dict[str, Any]) -> None:
        """Take a notebook kernel's namespace for a loaded file."""
        self.servant.sources.adopt(key, namespace)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Answer at once; nothing limits the time here."""
        del seconds
        try:
            return self.servant.answer(frame)
        except OutOfTime:
            return failed("timeout", "")

    def close(self) -> None:
        """Nothing is held."""
