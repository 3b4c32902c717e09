"""Tests of children that die: the reason in words, and a new child for the next request."""

from typing import Any

import pytest

from grader.sandbox.failures import CodeLine
from grader.sandbox.wire import Frame
from grader.sessions.launchers import SpawnLauncher
from grader.testing.replies import read_failures
from tests.grader.conftest import Talks

pytestmark = pytest.mark.slow

DIED = "the Python process of your code died of {}"
ENDED = "your code ended the Python process it ran in (exit status {})"
DEATHS = {
    "import os; os._exit(0)": ENDED.format(0),
    "import os; os._exit(3)": ENDED.format(3),
    "import ctypes; ctypes.string_at(0)": DIED.format("SIGSEGV"),
    "import os; os.kill(os.getpid(), 9)": "the Python process of your code ended without an answer",
    "import os; os.kill(os.getpid(), 40)": DIED.format("signal 40"),
    "import os; os.closerange(3, 1000)": ENDED.format(1),
}


def crashed(message: str) -> dict[str, Any]:
    """The answer that this side writes for a child that gave none."""
    return {"failure": {"kind": "crashed", "type": "", "bases": [], "message": message}}


@pytest.mark.parametrize(("statement", "message"), DEATHS.items())
def test_a_death_is_told_in_words_and_costs_only_this_request(
    talk_to: Any, statement: str, message: str
) -> None:
    """The next request is served by a new child, in which instances of the old one are gone."""
    talk = talk_to(f"X = 1\n\n\ndef f():\n    {statement}\n\n\nclass A: ...\n")
    made = talk.call("A")["value"]["reference"]
    assert talk.call("f") == crashed(message)
    assert (talk.session.generation, talk.get("X")) == (2, 1)
    again = talk.call("A")["value"]["reference"]
    assert (made, again) == ([1, "instance", "A"], [1_000_001, "instance", "A"])


@pytest.mark.parametrize(("statement", "message"), [*DEATHS.items()][1:3])
def test_what_stands_before_a_statement_that_ends_the_process_counts(
    talk_to: Any, statement: str, message: str
) -> None:
    """A new child loads the file without it; of a script nothing below it is run, either."""
    talk = talk_to(f"X = 1\n{statement}\nY = 2\n")
    opened = talk.ask("open")
    (failure,) = read_failures(Frame(opened))
    assert (opened["names"], failure.kind, failure.message) == (["X"], "crashed", message)
    assert failure.location == CodeLine("first.py", None, 2, statement)
    assert (talk.get("X"), talk.session.generation) == (1, 2)


def test_cells_below_one_that_ends_the_process_are_run(talk_to: Any) -> None:
    """As below any exception; the reason names the cell."""
    talk = talk_to({"first.ipynb": ["X = 1", "import os\nos._exit(3)\nY = 2", "Z = 3"]})
    opened = talk.ask("open", source="first.ipynb")
    (failure,) = opened["failures"]
    assert (opened["names"], failure["where"]["cell"]) == (["X", "Z"], 2)


def test_a_file_that_ends_every_process_is_given_up(talk_to: Any) -> None:
    """Whatever it does to be loaded again and again, it is loaded a few times."""
    cells = [f"import os\nX{number} = 1\nos._exit({number})" for number in range(6)]
    talk = talk_to({"first.ipynb": cells})
    assert talk.ask("open", source="first.ipynb") == crashed(ENDED.format(4))
    assert talk.session.generation == 6


@pytest.mark.proof
def test_a_spawned_child_dies_and_runs_late_as_a_forked_one(temporary_folder: Any) -> None:
    """One of each; the proof has all of them."""
    talks = Talks(SpawnLauncher())
    talk = talks(
        "import os, signal\nX = 1\n\n\ndef f():\n    os._exit(3)\n\n\n"
        "def g():\n    os.kill(os.getpid(), signal.SIGSTOP)\n",
        slack=0.05,
    )
    try:
        assert talk.call("f") == crashed(ENDED.format(3))
        assert (talk.session.generation, talk.get("X")) == (2, 1)
        assert talk.call("g", seconds=0.1)["failure"]["kind"] == "timeout"
    finally:
        talk.session.close()


def test_an_interrupt_that_student_code_raises_costs_only_this_request(talk_to: Any) -> None:
    """It is nobody's Ctrl-C."""
    talk = talk_to("X = 1\n\n\ndef f():\n    raise KeyboardInterrupt\n")
    assert talk.call("f")["failure"]["kind"] in ("crashed", "exception")
    assert talk.get("X") == 1


def test_leaving_by_sys_exit_is_no_death(talk_to: Any) -> None:
    """Neither while loading nor in a call."""
    talk = talk_to("import sys\n\n\ndef f():\n    sys.exit(2)\n\n\nsys.exit('no')\n")
    (failure,) = talk.ask("open")["failures"]
    assert (failure["type"], failure["message"]) == ("SystemExit", "no")
    assert talk.call("f")["failure"]["type"] == "SystemExit"
    assert talk.session.generation == 1


def test_a_stopped_child_is_ended_by_its_deadline(talk_to: Any) -> None:
    """Not even a signal it cannot catch keeps it."""
    text = "import os, signal\nX = 1\n\n\ndef f():\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
    talk = talk_to(text, slack=0.05)
    said = talk.call("f", seconds=0.1)["failure"]["message"]
    assert (said, talk.get("X")) == ("your code was still running after 0.1 seconds", 1)


FORGERY = """\
import gc, socket, struct


def f():
    (mine,) = [s for s in gc.get_objects() if isinstance(s, socket.socket)]
    mine.sendall({data})
    return 1
"""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (r"b'\xff' * 100", "a frame announces more bytes than may travel"),
        (r"struct.pack('!II', 2, 0) + b'[]'", "a header is not an object"),
        (r"struct.pack('!II', 3, 0) + b'{,}'", "a header is not JSON"),
    ],
)
def test_an_answer_that_is_no_frame_counts_as_a_crash(
    talk_to: Any, data: str, message: str
) -> None:
    """The child is ended; nothing else of what it said is read."""
    talk = talk_to(FORGERY.format(data=data))
    assert talk.call("f") == crashed(f"its process sent a malformed reply: {message}")
    assert talk.session.generation == 2
