"""Tests of the desk: what is stopped, and interpreters that are started ahead."""

import threading
from collections.abc import Iterator

import pytest

from grader.course.course import Limits
from grader.progress.live_checks import AheadLauncher, StoppableSession, Stopped
from grader.sandbox.wire import Frame
from grader.sessions.launchers import Child, Launcher
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Submission

LIMITS = Limits()
OPEN = Frame({"verb": "open", "source": "a.py"})


def session(launcher: Launcher, text: str) -> StoppableSession:
    """A session over one file."""
    source = SourceFile("a.py", "a", False, (Cell(None, text),))
    return StoppableSession(launcher, Submission("me", {"a.py": source}), LIMITS)


@pytest.mark.slow
def test_a_session_is_stopped_while_it_waits_for_an_answer(warm_parent):
    """It does not wait for the limit."""
    made = session(warm_parent, "print('begun')\nwhile True:\n    pass\n")
    launched, ended = threading.Event(), []
    exchange = made._exchange

    def told(request: bytes, seconds: float) -> object:
        if b'"open"' in request:
            launched.set()
        return exchange(request, seconds)

    made._exchange = told

    def ask() -> None:
        with pytest.raises(Stopped):
            made.ask(OPEN, 60.0)
        ended.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    assert launched.wait(60)
    made.stop()
    thread.join(30)
    made.close()
    assert ended == [True]


def test_a_stopped_session_asks_nothing(warm_parent):
    """No process is started for it."""
    made = session(warm_parent, "x = 1\n")
    made.stop()
    with pytest.raises(Stopped):
        made.ask(OPEN, 60.0)
    assert made.child is None


def test_a_session_stopped_while_its_process_starts_asks_nothing(warm_parent, monkeypatch):
    """Stopping finds no process then."""
    made = session(warm_parent, "x = 1\n")
    launch = warm_parent.launch

    def stopped_meanwhile(limits: Limits, generation: int) -> Child:
        made.stop()
        return launch(limits, generation)

    monkeypatch.setattr(warm_parent, "launch", stopped_meanwhile)
    with pytest.raises(Stopped):
        made.ask(OPEN, 60.0)
    made.close()


@pytest.fixture
def ahead() -> Iterator[AheadLauncher]:
    """A launcher that starts interpreters ahead."""
    made = AheadLauncher(LIMITS)
    yield made
    made.close()


@pytest.mark.slow
def test_an_interpreter_that_was_started_ahead_serves_the_next_session(ahead):
    """And only that one."""
    ahead.prepare()
    waiting = ahead.ready
    ahead.prepare()
    assert ahead.ready is waiting
    made = session(ahead, "x = 1\n")
    answer = made.ask(OPEN, 60.0)
    assert "failure" not in answer.header
    assert (made.child, ahead.ready) == (waiting, None)
    made.close()
    assert waiting.process.poll() is not None


@pytest.mark.slow
def test_an_interpreter_that_waits_is_ended_with_its_launcher(ahead):
    """Nothing is left running."""
    ahead.prepare()
    process = ahead.ready.process
    ahead.close()
    assert process.poll() is not None
    assert ahead.ready is None
