"""A servant in this very process: for debugging, for a notebook's own kernel, for solutions."""

import warnings

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
        headers = {key: source.header() for key, source in submission.sources.items()}
        self.servant.loader.add(headers, submission.modules, submission.lent)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply at once; nothing limits the time here."""
        del seconds
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # torch's, as in a child process
                return self.servant.reply(frame)
        except OutOfTime:
            return failed("timeout", "")
