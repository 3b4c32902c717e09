"""A servant in this very process: for debugging, for a notebook's own kernel, for solutions."""

from typing import Any

from grader.sandbox.failures import OutOfTime
from grader.sandbox.loader import Loader
from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame
from grader.sessions.base import Session, failed
from grader.submissions.submission import Submission


class InProcessSession(Session):
    """Runs a submission here. Values still travel as frames' contents, never as objects."""

    def __init__(self, submission: Submission) -> None:
        self.servant = Servant(Loader(interactive=True), interactive=True)
        self.servant.loader.add({k: s.header() for k, s in submission.sources.items()})

    def adopt(self, key: str, namespace: dict[str, Any]) -> None:
        """Treat a notebook kernel's namespace as a loaded file."""
        self.servant.loader.adopt(key, namespace)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply at once; nothing limits the time here."""
        del seconds
        try:
            return self.servant.answer(frame)
        except OutOfTime:
            return failed("timeout", "")
