"""Tests of time: what counts is the processor's, whatever the wall clock shows."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from grader.course.course import Limits
from grader.sandbox.wire import Frame
from grader.sessions.child import ChildSession
from grader.sessions.launchers import WarmParent
from grader.sessions.stopwatch import (
    BUSY,
    PATIENCE,
    PATIENCE_IN_DOUBT,
    NotScheduled,
    ProcessClock,
    Spent,
    Stopwatch,
    processor_seconds,
    seconds_of,
)
from tests.grader.conftest import KEY

on_linux = pytest.mark.only_on("linux", reason="only Linux says who waits")


@dataclass
class Machine:
    """A child's connection and its clock, on a machine whose time passes while somebody waits.

    Args:
        share: of each second, the part in which the child computes.
        sleeps: whether it sleeps for the rest, or else waits for a processor.
        tells: whether the system says who waits.
        needs: the seconds it computes until it replies.
    """

    share: float
    sleeps: bool = False
    tells: bool = True
    needs: float = float("inf")
    seconds: float = 0.0
    timeout: float = 0.0
    pid: int = 0
    is_quick: bool = True
    last: Spent = field(default_factory=lambda: Spent(0.0, 0.0))

    def now(self) -> float:
        """What the wall clock shows."""
        return self.seconds

    def read(self, *, threads: bool = False) -> Spent:
        """What the child has spent."""
        del threads
        computed = min(self.share * self.seconds, self.needs)
        waited = 0.0 if self.sleeps else self.seconds - computed
        self.last = Spent(computed, waited if self.tells else None)
        return self.last

    def settimeout(self, seconds: float) -> None:
        """How long the next read waits."""
        self.timeout = seconds

    def recv_into(self, _buffer: memoryview) -> int:
        """A byte once it has computed what it needs."""
        self.seconds += self.timeout
        if self.share * self.seconds >= self.needs:
            return 1
        raise TimeoutError

    def wait(self, seconds: float = 1.0) -> int:
        """Wait for a reply that may take these seconds."""
        given: Any = self
        watch = Stopwatch(given, given, seconds, 0.5, BUSY * seconds, self.now)
        return watch.recv_into(memoryview(bytearray(1)))


@pytest.fixture
def nobody_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child of a machine that is made up."""
    monkeypatch.setattr(os, "kill", lambda *_: None)


MACHINES = {
    "who computes too long": (Machine(share=1.0), TimeoutError, 1.75),
    "beside others, too": (Machine(share=0.1), TimeoutError, 17.5),
    "who sleeps, sooner than a busy machine": (Machine(0.01, sleeps=True), TimeoutError, PATIENCE),
    "who has no turn is not judged": (Machine(0.001, needs=0.5), NotScheduled, BUSY),
    "who may sleep or wait": (Machine(0.0, tells=False), NotScheduled, PATIENCE_IN_DOUBT),
    "who had its time": (Machine(1.0, tells=False), TimeoutError, 1.75),
    "where looking takes long": (Machine(1.0, is_quick=False, tells=False), TimeoutError, 1.75),
}


@pytest.mark.usefixtures("nobody_is_killed")
@pytest.mark.parametrize("name", MACHINES)
def test_what_ends_a_request(name: str) -> None:
    """What was computed costs the student; who got no turn, as far as anybody knows, is not judged.

    At the limit, a quarter and the slack of what is computed; with patience on the wall's clock.
    """
    machine, ended, after = MACHINES[name]
    machine = replace(machine)
    with pytest.raises(ended):
        machine.wait()
    assert after <= machine.seconds < after + max(1.0, 0.15 / (machine.share or 1))


def test_who_waits_for_a_processor_has_all_of_the_time() -> None:
    """A tenth of a processor is enough, at ten times the seconds on the wall."""
    machine = Machine(share=0.1, needs=0.9)
    assert machine.wait() == 1
    assert machine.seconds >= 9


def test_where_looking_takes_long_a_request_that_does_not_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It replies before anybody looks."""
    monkeypatch.setattr(Machine, "read", lambda *_, **__: pytest.fail("it was looked at"))
    assert Machine(share=1.0, is_quick=False, needs=0.2).wait() == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("00:03", 3.0), ("1:02.50", 62.5), ("2-01:00:05", 176_405.0)]
)
def test_the_time_of_a_process_is_read_as_systems_write_it(text: str, seconds: float) -> None:
    """By `ps`, on Linux and on macOS."""
    assert seconds_of(text) == seconds


@on_linux
def test_the_clock_of_a_process_that_ended_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows in the end is what was read last."""
    process = subprocess.Popen(
        [sys.executable, "-c", "print(); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with closing(ProcessClock(process.pid)) as clock, process:
        assert process.stdout is not None
        process.stdout.readline()
        spent = clock.read(threads=True)
        process.kill()
        process.wait()
        assert spent.processor > 0
        assert clock.read() == spent
    with pytest.raises(OSError, match="Invalid argument"):
        processor_seconds(process.pid)


# On a busy machine.


@contextmanager
def crowded(loops: int) -> Iterator[None]:
    """Have this process and its children share one processor with loops, each as a session."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    running = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(loops)
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, allowed)


WORK = """\
import time


def f():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    return 7


def g():
    time.sleep(1000)
"""


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("loops", [6, pytest.param(12, marks=pytest.mark.proof)])
def test_a_busy_machine_takes_no_time_from_a_right_answer(submit: Any, loops: int) -> None:
    """Loops beside it on one processor; whoever sleeps there is ended all the same."""
    with closing(WarmParent()) as parent:
        parent.wait()
        with closing(ChildSession(parent, submit(WORK), Limits(), slack=0.05)) as session:
            call = {"verb": "call", "source": KEY, "args": [], "kwargs": {}}
            session.ask(Frame({"verb": "open", "source": KEY}), 10.0)
            os.sched_setaffinity(session.child.pid, {min(os.sched_getaffinity(0))})  # type: ignore[union-attr]
            with crowded(loops):
                reply = session.ask(Frame({**call, "name": "f"}), 0.4).header
                late = session.ask(Frame({**call, "name": "g"}), 0.4).header
    assert (reply.get("value"), late["failure"]["kind"]) == (7, "timeout")


# What is imported in a student's time.


def test_no_import_is_left_behind_half_done(talk_to: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm waits until the import is over, and then names the student's line."""
    talk = talk_to(
        "import os, pathlib, sys\n\n\n"
        "def f(text):\n    pathlib.Path('slowly.py').write_text(text)\n"
        "    sys.path.insert(0, os.getcwd())\n    import slowly\n    while True:\n        pass\n\n\n"
        "def g():\n    import slowly\n    return slowly.X\n",
        slack=2.0,
    )
    slowly = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass\nX = 3\n"
    header = {"verb": "call", "source": KEY, "name": "f", "args": [slowly], "kwargs": {}}
    failure = talk.session.ask(Frame(header), 0.3).header["failure"]
    assert (failure["kind"], failure["where"]["text"]) == ("timeout", "while True:")
    assert (talk.call("g").get("value"), talk.session.generation) == (3, 1)


def test_counting_a_cost_imports_nothing_that_takes_time(talk_to: Any) -> None:
    """Torch would import its compiler for it, in more than a second."""
    talk = talk_to(
        "import sys\nimport torch\n\n\n"
        "def f():\n    return torch.ones(2) * 2\n\n\n"
        "def g():\n    return 'torch._dynamo.config' in sys.modules\n"
    )
    assert talk.ask("open")["failures"] == []
    before = talk.call("g")["value"]  # the parent of the children may have it, for another test
    reply = talk.ask("call", seconds=0.5, name="f", args=[], kwargs={}, meter=True)
    assert reply["cost"]["multiplications"] == 2
    assert talk.session.limits.submission_seconds - talk.session.time_left.processor < 0.5
    assert talk.call("g")["value"] is before


OPTIMIZED = """
import sys
import torch


def steps():
    before = "torch._dynamo.config" in sys.modules
    weight = torch.nn.Parameter(torch.ones(3))
    for optimizer in (torch.optim.SGD([weight], lr=0.5), torch.optim.AdamW([weight])):
        weight.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return f"{weight[0]:.2f}, {('torch._dynamo.config' in sys.modules) == before}"


def compiled():
    return torch.compile(lambda x: x * 2, backend="eager")(torch.ones(2)).sum().item()
"""


def test_an_optimizer_imports_no_compiler_and_what_compiles_has_it(talk_to: Any) -> None:
    """Torch imports its compiler for optimizers, in a second, to have them left alone by it."""
    talk = talk_to(OPTIMIZED)
    assert talk.ask("open")["failures"] == []
    assert talk.call("steps")["value"] == "0.50, True"
    assert talk.call("compiled")["value"] == 4.0


SHAPES = "import torch\ndef f():\n    with torch.device('meta'): return torch.nn.Linear(3, 4).weight.numel()"


def test_what_a_model_of_shapes_imports_takes_no_time_of_the_students(talk_to: Any) -> None:
    """More than a second as well, which the parent has imported before the child begins."""
    talk = talk_to(SHAPES)
    assert talk.ask("open")["failures"] == []
    assert talk.ask("call", seconds=0.5, name="f", args=[], kwargs={})["value"] == 12
    assert talk.session.limits.submission_seconds - talk.session.time_left.processor < 0.5


def test_counting_a_cost_takes_little_of_the_memory_that_a_check_limits(
    talk_to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torch's compiler would be more than such a check allows."""
    talk = talk_to("import torch\n\n\ndef f():\n    return torch.ones(2) * 2\n")
    monkeypatch.setattr(talk.session.launcher, "packages", ())
    header = {"verb": "call", "source": KEY, "name": "f", "args": [], "kwargs": {}, "meter": True}
    with closing(talk.session.within(replace(talk.session.limits, memory_mib=24))) as limited:
        reply = limited.ask(Frame(header), 1.0).header
    assert reply["cost"]["multiplications"] == 2
