"""A servant in this very process: for debugging, for a notebook's own kernel, for solutions."""

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
import warnings
import weakref
from functools import cache
from typing import Any, TextIO, cast

from grader.course.course import Limits
from grader.sandbox.failures import OutOfTime
from grader.sandbox.limits import LIMITS_MEMORY, SLOW_PARTS, import_packages
from grader.sandbox.loader import Loader
from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame
from grader.sessions.base import Session, failed
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher, default_launcher
from grader.submissions.submission import Submission


class Heard:
    """Standard output while student code runs here: what is printed is kept, and shown where somebody looks.

    Args:
        is_shown: whether it is.
    """

    def __init__(self, is_shown: bool) -> None:
        self.stream: Any = sys.stdout
        self.is_shown = is_shown
        self.parts: list[str] = []
        self.left = 0

    def write(self, text: str) -> int:
        """Keep the text, and show it where it is to be."""
        self.parts.append(text[: self.left])
        self.left -= len(self.parts[-1])
        if self.is_shown:
            self.stream.write(text)
        return len(text)

    def drain(self) -> str:
        """What was printed since the last call, as far as it is kept."""
        text, self.parts, self.left = "".join(self.parts), [], Limits().output_kib * 1024
        return text

    def __getattr__(self, name: str) -> Any:
        """Whatever else streams have."""
        return getattr(self.stream, name)


class InProcessSession(Session):
    """Runs a submission here. Values still travel as frames' contents, never as objects.

    Args:
        submission: what runs.
        is_alone: whether nothing of it may run elsewhere: its code is that of a notebook's kernel,
            or somebody looks for a fault in it.
    """

    def __init__(self, submission: Submission, *, is_alone: bool = False) -> None:
        self.submission, self.is_alone = submission, is_alone
        self.heard = Heard(is_alone)
        self.servant = Servant(Loader(interactive=True), drain=self.heard.drain, interactive=True)
        headers = {key: source.header() for key, source in submission.sources.items()}
        self.servant.loader.add(headers, submission.modules, submission.lent)
        import_packages(name for name in submission.libraries() if name not in SLOW_PARTS)
        self.folder = "."
        if contents := {name: path.read_bytes() for name, path in submission.files.items()}:
            self.folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            with contextlib.chdir(self.folder):
                for name, content in contents.items():
                    self.servant.reply(Frame({"verb": "file", "path": name}, content))

    def within(self, limits: Limits) -> ChildSession | None:
        """A child process of its own, where there may be one and its memory can be limited."""
        if self.is_alone or not LIMITS_MEMORY:
            return None
        return ChildSession(_launcher(os.getpid()), self.submission, limits)

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Reply at once; nothing limits the time here."""
        del seconds
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # torch's, as in a child process
                self.heard.stream = sys.stdout
                self.heard.drain()
                place = contextlib.chdir(self.folder)
                with contextlib.redirect_stdout(cast(TextIO, self.heard)), place:
                    return self.servant.reply(frame)
        except OutOfTime:
            return failed("timeout", "")


@cache
def _launcher(process: int) -> Launcher:
    """What makes the children of this process, until its end; a fork of it has its own."""
    launcher = default_launcher()
    atexit.register(lambda: launcher.close() if os.getpid() == process else None)
    return launcher
