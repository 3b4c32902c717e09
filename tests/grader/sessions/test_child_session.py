"""Tests of submissions in a child process: what they may use, and what is left of them."""

import socket
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from grader.core.errors import GraderFault
from grader.course.course import Limits
from grader.sandbox.processes import FORKS_IN_SMALL_PAGES
from grader.sandbox.wire import Frame
from grader.sessions.child import ChildSession
from grader.sessions.launchers import WarmParent, child_limits
from grader.submissions.submission import Submission
from tests.grader.conftest import KEY

Leftovers = Callable[[], list[str]]

ECHO = "X = 1\n\n\ndef f():\n    return [1, 'two', (3.5, None)]\n"
ECHOED = {"list": [1, "two", {"tuple": [3.5, None]}]}


def ended(message: str) -> dict[str, Any]:
    """The answer that this side writes where time is up."""
    return {"failure": {"kind": "timeout", "type": "", "bases": [], "message": message}}


def test_a_child_answers_like_any_servant(talk_to: Any) -> None:
    """Values, names and failures."""
    talk = talk_to("X = 1\n\n\ndef f():\n    return X\n\n\n1 / 0\n")
    opened = talk.ask("open")
    assert opened["names"] == ["X", "f"]
    assert [failure["where"]["line"] for failure in opened["failures"]] == [8]
    assert talk.call("f") == {"value": 1, "changed": [], "output": ""}
    assert talk.call("g") == {"failure": {"kind": "missing", "message": "g"}, "output": ""}


def test_the_layers_around_it_are_told(talk_to: Any) -> None:
    """For the record of the run."""
    session = talk_to("").session
    assert (session.isolation, session.generation) == (("child process", "limits"), 1)


def test_files_import_each_other_in_a_child(talk_to: Any) -> None:
    """By `import`, by `importlib`, and by name in `sys.modules`."""
    second = (
        "from first import X\nimport sys, importlib\n"
        "SAME = importlib.import_module('first') is sys.modules['first']\n"
    )
    talk = talk_to({"01_first/first.py": ECHO, "02_second/second.py": second})
    answer = talk.ask("get", source="02_second/second.py", name="SAME")
    assert answer["value"] is True


def test_a_child_knows_nothing_of_this_process(
    talk_to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment, its folder and its modules hold nothing of ours to look up."""
    monkeypatch.setenv("SECRET_SEED", "12345")
    ours = ("pytest", "grader.course", "grader.submissions", "grader.testing", "grader.judging")
    talk = talk_to(
        "import os, sys\n"
        "SECRET = os.environ.get('SECRET_SEED')\n"
        "FILES = os.listdir()\n"
        f"OURS = [name for name in sys.modules if name.startswith({ours})]\n"
    )
    assert [talk.get(name) for name in ("SECRET", "FILES", "OURS")] == [None, *[{"list": []}] * 2]


# Time.


def test_a_loop_without_end_is_ended_and_its_line_told(talk_to: Any) -> None:
    """The student reads where it was when its time was up; the child lives on."""
    talk = talk_to("def f():\n    n = 0\n    while True:\n        n += 1\n", request_seconds=0.2)
    failure = talk.call("f")["failure"]
    assert (failure["kind"], failure["where"]["line"] in (3, 4)) == ("timeout", True)
    assert talk.session.generation == 1


SWALLOWS = "try:\n{0}    while True:\n{0}        pass\n{0}except BaseException:\n{0}    n = 1\n"


def test_a_loop_that_swallows_every_exception_is_ended_with_its_process(talk_to: Any) -> None:
    """The deadline that counts is kept on this side; the next request has a new child."""
    loop = SWALLOWS.format(" " * 8)
    talk = talk_to(f"X = 1\n\n\ndef f():\n    while True:\n        {loop}", slack=0.05)
    assert talk.call("f", seconds=0.2) == ended("your code was still running after 0.2 seconds")
    assert (talk.session.generation, talk.get("X")) == (2, 1)


@pytest.mark.parametrize(
    ("loop", "lines", "generation"),
    [("X += 1\n", (2, 3), 1), (SWALLOWS.format("    "), (2,), 2)],
    ids=["plain", "swallows"],
)
def test_a_loop_without_end_while_loading_is_left_out(
    talk_to: Any, loop: str, lines: tuple[int, ...], generation: int
) -> None:
    """What stands before it counts, in a new child where need be, and the reason names its line."""
    talk = talk_to(f"X = 1\nwhile X:\n    {loop}Y = 2\n", slack=0.05)
    opened = talk.ask("open", seconds=0.3)
    (failure,) = opened["failures"]
    assert (opened["names"], failure["kind"]) == (["X"], "timeout")
    assert (failure["where"]["file"], failure["where"]["line"] in lines) == ("first.py", True)
    assert talk.session.generation == generation


def test_definitions_below_a_cell_that_was_stopped_count(talk_to: Any) -> None:
    """Nothing else below it is run, so that one cell after the other is not waited for.

    A constant that stands right below counts as well.
    """
    endless = "while True:\n    pass\nlate = 1"
    below = "import math\nSIZES = [1, 2]\nSUM = sum(SIZES)\n\n\ndef f():\n    return math.pi"
    talk = talk_to({"first.ipynb": ["X = 1", endless, endless, below]})
    opened = talk.ask("open", source="first.ipynb", seconds=0.3)
    (failure,) = opened["failures"]
    assert (opened["names"], failure["where"]["cell"]) == (["X", "late", "SIZES", "f"], 2)
    assert talk.session.generation == 1


def test_what_is_loaded_when_time_is_up_is_not_interrupted(talk_to: Any) -> None:
    """A class body that runs when the alarm rings again is no loop without an end."""
    slow = "import time\nclass Slow:\n    end = time.process_time() + 0.3\n"
    slow += "    while time.process_time() < end:\n        pass\n\n\nclass Last: ..."
    talk = talk_to({"first.ipynb": ["X = 1", "while True:\n    pass", slow]})
    opened = talk.ask("open", source="first.ipynb", seconds=0.3)
    assert (opened["names"], len(opened["failures"])) == (["X", "Slow", "Last"], 1)


def test_the_time_for_the_whole_submission_is_limited(talk_to: Any) -> None:
    """When it is used up, nothing is run any more."""
    talk = talk_to("def f():\n    n = 0\n    while True:\n        n += 1\n", submission_seconds=0.2)
    first, *_more, last = (talk.call("f") for _ in range(5))  # on a busy machine one leaves a rest
    assert first["failure"]["kind"] == "timeout"
    assert last == ended("the 0.2 seconds for the whole submission are used up")


@pytest.mark.only_on("linux", reason="memory is limited there alone")
def test_a_process_of_its_own_shares_the_time_for_the_whole_submission(talk_to: Any) -> None:
    """What it takes is taken from the submission's; its memory is its own."""
    session = talk_to("X = 1\n").session
    session.time_left.processor = 7.0
    with closing(session.within(Limits(memory_mib=64))) as other:
        assert (other.time_left.processor, other.limits.memory_mib) == (7.0, 64)
        other.time_left.processor = 3.0
    assert session.time_left.processor == 3.0


# Memory, output, files.


@pytest.mark.parametrize(
    "statement",
    [
        "x = [bytearray(2**25) for _ in range(10**6)]",
        "import torch; torch.zeros(2**34)",
        "import numpy; numpy.ones(2**34)",
    ],
    ids=["python", "torch", "numpy"],
)
def test_a_memory_eater_runs_out_of_memory_and_lives_on(talk_to: Any, statement: str) -> None:
    """With the line that asked for it."""
    talk = talk_to(f"X = 1\n\n\ndef f():\n    {statement}\n", memory_mib=128)
    failure = talk.call("f")["failure"]
    assert (failure["kind"], failure["where"]["text"]) == ("out_of_memory", statement)
    assert (talk.get("X"), talk.session.generation) == (1, 1)


def test_whoever_prints_megabytes_is_kept_short_and_still_right(talk_to: Any) -> None:
    """The first KiB are kept, the rest is counted; what is printed next is kept anew."""
    talk = talk_to(
        "def f():\n    print('x' * 3_000_000)\n    return 7\n\n\ndef g():\n    print('called')\n",
        output_kib=1,
    )
    answer, said = talk.call("f"), "\n… (2998977 more characters were printed)\n"
    assert (answer["value"], answer["output"]) == (7, "x" * 1024 + said)
    assert talk.call("g")["output"] == "called\n"


def test_warnings_of_torch_are_not_what_was_printed(talk_to: Any) -> None:
    """What Python warns of, as of a syntax that is hardly meant, stays."""
    text = "import torch\n\n\nx = 1\n\n\ndef f():\n    print(x is 3)\n    torch.ones(2, 2, 2).T\n"
    talk = talk_to(text.replace("x is 3", "x == 3"))
    reply = talk.call("f")
    assert (reply.get("failure"), reply["output"]) == (None, "False\n")
    assert "SyntaxWarning" in talk_to(text).ask("open")["output"]


def test_what_is_printed_comes_with_the_answer_it_belongs_to(talk_to: Any) -> None:
    """On both streams; what goes past Python is silent, and reading finds an end."""
    talk = talk_to(
        "import os, sys\nprint('loading')\n\n\ndef f():\n    print('called')\n"
        "    print('error', file=sys.stderr)\n    os.write(1, b'raw')\n    return sys.stdin.read()\n"
    )
    assert talk.ask("open")["output"] == "loading\n"
    assert talk.call("f") == {"value": "", "changed": [], "output": "called\nerror\n"}
    assert talk.get("os") == {"unsupported": "module"}


def test_a_big_file_cannot_be_written_a_small_one_can(talk_to: Any) -> None:
    """It fails like a full disk, in the folder that the child has for itself."""
    talk = talk_to(
        "def write(size):\n    with open('file', 'wb') as file:\n        file.write(bytes(size))\n\n\n"
        "def small():\n    write(1000)\n\n\ndef big():\n    write(2 * 2**20)\n",
        file_mib=1,
    )
    assert talk.call("small")["value"] is None
    failure = talk.call("big")["failure"]
    assert (failure["type"], failure["message"]) == ("OSError", "[Errno 27] File too large")


def test_a_large_notebook_reaches_its_child(talk_to: Any) -> None:
    """As much code as is read is also sent, whatever its characters are."""
    face = "\U0001f600"
    cell = f"X = '{face * 400_000}'\nY = len(X)"
    talk = talk_to({"first.ipynb": [cell]})
    assert talk.ask("get", source="first.ipynb", name="Y").get("value") == 400_000


# What is left behind.


def test_nothing_is_left_behind(talk_to: Any, tether: Any, leftovers: Leftovers) -> None:
    """No process, also none that the student's code started, no folder, and no temporary file."""
    talk = talk_to(
        "import os, subprocess, tempfile\n"
        f"PIPE = os.open({str(tether.path)!r}, os.O_WRONLY)\n"
        "os.write(PIPE, b'here')\n"
        "SLEEPER = subprocess.Popen(['sleep', '1000'], pass_fds=[PIPE])\n"
        "open('file', 'w').write('x')\n"
        "MADE = tempfile.mkdtemp(), tempfile.mkstemp()\n"
    )
    assert (talk.ask("open")["failures"], tether.received()) == ([], b"here")
    talk.session.close()
    assert (tether.received(), leftovers()) == (b"", [])


def test_closing_twice_or_unused_is_fine(talk_to: Any, leftovers: Leftovers) -> None:
    """A session that was never asked has no process."""
    talk = talk_to("")
    talk.session.close()
    talk.session.close()
    assert leftovers() == []


# The warm parent.


def test_children_of_one_parent_do_not_meet(talk_to: Any) -> None:
    """What one does to torch, to modules and to its folder, no other sees."""
    one = talk_to("import torch, math\ntorch.set_default_dtype(torch.float64)\nmath.pi = 3\n")
    other = talk_to("import torch, math\nX = str(torch.ones(1).dtype)\nY = math.pi > 3.1\n")
    assert one.ask("open")["failures"] == []
    assert (other.get("X"), other.get("Y")) == ("torch.float32", True)


CALL = Frame({"verb": "call", "source": KEY, "name": "f", "args": [], "kwargs": {}})


@pytest.mark.slow
def test_a_session_that_owns_its_launcher_ends_it(submit: Callable[..., Submission]) -> None:
    """The warm parent goes with it."""
    parent = WarmParent()
    session = ChildSession(parent, submit(ECHO), Limits(), owns_launcher=True)
    assert session.ask(CALL, 20.0).header["value"] == ECHOED
    session.close()
    assert parent.process.returncode is not None


@pytest.mark.slow
def test_children_are_the_same_once_their_parent_has_huge_pages(
    submit: Callable[..., Submission],
) -> None:
    """With what is imported in it, which is in these pages then."""
    text, found = "import torch\n\n\ndef f():\n    return torch.arange(10).sum().item()\n", []
    with closing(WarmParent()) as parent:
        for _child in range(FORKS_IN_SMALL_PAGES + 2):
            with closing(ChildSession(parent, submit(text), Limits())) as session:
                found.append(session.ask(CALL, 20.0).header["value"])
    assert found == [45] * (FORKS_IN_SMALL_PAGES + 2)


def test_a_closed_warm_parent_is_the_graders_fault_and_leaves_nothing(
    leftovers: Leftovers, submit: Callable[..., Submission]
) -> None:
    """It is told as such, never as the student's."""
    parent = WarmParent()
    parent.close()
    with pytest.raises(GraderFault, match=r"^the process that starts children is gone "):
        ChildSession(parent, submit(ECHO), Limits()).ask(CALL, 20.0)
    assert leftovers() == []


@pytest.mark.slow
def test_a_submission_that_kills_the_warm_parent_harms_no_other(
    leftovers: Leftovers, submit: Callable[..., Submission]
) -> None:
    """The parent is started anew for the next one."""
    kills = submit("import os\ndef f(): os.kill(os.getppid(), 9)\n")
    with closing(WarmParent()) as parent:
        other = ChildSession(parent, submit(ECHO), Limits())
        with closing(ChildSession(parent, kills, Limits())) as attack:
            attack.ask(CALL, 20.0)
        with closing(other):
            assert other.ask(CALL, 20.0).header["value"] == ECHOED
    assert leftovers() == []


def test_instances_of_each_generation_have_numbers_of_their_own() -> None:
    """A reference to an instance of a dead process never finds another's."""
    firsts = [child_limits(Limits(), number, "").first_instance for number in (1, 2, 3)]
    assert firsts == [0, 1_000_000, 2_000_000]


def test_what_the_course_promises_is_there_and_draws_without_a_window(talk_to: Any) -> None:
    """It is imported before the child is confined; what is not installed stops nothing."""
    text = "import os, sys\n\n\ndef f():\n    return [os.environ['MPLBACKEND'], 'wave' in sys.modules]\n"
    talk = talk_to(text, packages=("nowhere", "wave"))
    assert talk.call("f")["value"] == talk_to("X = ['Agg', True]\n").get("X")


class Stillborn:
    """A launcher, and the child it makes, which ends before it answers anything."""

    isolation, packages, pid = (), (), 0

    def __init__(self) -> None:
        self.connection, self.theirs = socket.socketpair()
        self.ended = False

    def launch(self, limits: Limits, generation: int) -> "Stillborn":
        """Make a child whose end of the connection is closed."""
        del limits, generation
        self.theirs.close()
        return self

    def end(self, patience: float) -> int:
        """It is dead already."""
        del patience
        self.connection.close()
        self.ended = True
        return 1

    def close(self) -> None:
        """Nothing is held."""


def test_a_child_that_dies_before_it_has_read_the_submission_is_the_graders_fault(
    submit: Callable[..., Submission],
) -> None:
    """Before a line of the student's was run, nothing is theirs."""
    launcher = Stillborn()
    session = ChildSession(launcher, submit(ECHO), Limits())
    with closing(session), pytest.raises(GraderFault):
        session.ask(CALL, 20.0)
    assert launcher.ended
