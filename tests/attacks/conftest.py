"""What the attacks share: a tiny course, sealed launchers, verdicts, and what must stay as it is."""

import contextlib
import gc
import os
import platform
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from grader.classes.worker import grade_student
from grader.core import records
from grader.core.records import Outcome, Result
from grader.course.course import load_course
from grader.intake import folders as student_folders
from grader.intake.folders import Student
from grader.judging import collect, scoring, submission_grader
from grader.judging.results import to_json
from grader.judging.submission_grader import SubmissionGrader, full_grader
from grader.sandbox import (
    failures,
    loader,
    processes,
    seal,
    servant,
    stream,
    tensors,
    torch_later,
    wire,
)
from grader.sandbox.syscall_table import DENIED, column
from grader.sessions.launchers import Seal, WarmParent, default_launcher
from grader.testing import judge

SEED = "4820771193654"
SECRET = "the-canary-sings-5d1c"
MARK_OF_THE_NEIGHBOUR = "written by alice alone, 77e0"
MARK_OF_THE_SOLUTION = "only the solution says so, 31fa"
MARK_OF_THE_HIDDEN_CHECK = "only a hidden check says so, c0de"
SECRETS = (SEED, SECRET, MARK_OF_THE_NEIGHBOUR, MARK_OF_THE_SOLUTION, MARK_OF_THE_HIDDEN_CHECK)

HERE = Path(__file__).parent
COURSE = HERE / "course"
HONEST, HELPERS, ATTEMPTS = (
    (HERE / "submissions" / f"{name}.py").read_text("utf-8")
    for name in ("honest", "helpers", "attempts")
)
PATCH_FAILED = 199
"""The exit status of an attack whose patch did not take hold: no verdict that a test expects."""
SERVING = {
    module.__name__.rpartition(".")[2]: module.__name__
    for module in (failures, loader, processes, seal, servant, stream, tensors, torch_later, wire)
}
"""Modules of ours that are loaded beside student code, for attacks that patch them."""
JUDGING = [
    module.__name__
    for module in (judge, scoring, submission_grader, records, collect, student_folders)
]
"""Modules of ours that are not loaded beside student code."""
collect_ignore = ["course", "submissions"]

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FULL = 8
Verdict = tuple[Any, dict[str, str], str]
"""The score, the outcomes of each exercise that lost points, and the first message's reason."""

_CALL = (
    r"(?:(?:torch\.manual_seed\(\d+\)(?:; [^\n]*)?|model = [^\n]*|model\.load_state_dict[^\n]*)\n)*"
    r"(?:(?:double|total|Layer|model)\([^\n]*\)\n)?"
)
_WHO = "(?:It|Loading your file)"
_PLACE = r"(?:\n  at [^\n]+(?::\d+|, line \d+:)\n    [^\n]*)?"
_PRINTED = r"(?:\nYour code printed: .*)?"
_LOOP = r"\nIs there a loop that never ends\?"
_UNFINISHED = rf"{_CALL}The check could not finish: "
OURS = {
    "exit status": rf"{_UNFINISHED}[a-zA-Z ]+ \(exit status (?P<detail>\d+)\)\.{_PLACE}",
    "died of": rf"{_UNFINISHED}[a-zA-Z ]+ died of (?P<detail>SIG[A-Z]+)\.{_PLACE}",
    "ended without an answer": rf"{_UNFINISHED}[a-zA-Z ]+ ended without an answer\.{_PLACE}",
    "malformed": rf"{_UNFINISHED}its process sent a malformed reply: [a-zA-Z0-9 ,']+\.",
    "left out": rf"{_UNFINISHED}its process left out the gradients\.",
    "no known failure": rf"{_UNFINISHED}[a-zA-Z ]+ a failure in an unknown form\.",
    "still running": rf"{_CALL}{_WHO} took too long: [a-z ]+ after [0-9.]+ seconds\.{_LOOP}",
    "time used up": rf"{_CALL}{_WHO} took too long: [a-z ]*[0-9.]+ seconds for [a-z ]+\.{_LOOP}",
    "too long": rf"{_CALL}{_WHO} took too long\.{_PLACE}{_LOOP}",
    "memory": rf"{_CALL}It asked for more memory than a submission may use\.{_PLACE}",
    "raised": rf"{_CALL}It raised (?P<detail>[A-Za-z_]*).*{_PLACE}(?:\n[A-Z][^\n]*\?)*",
    "not defined": rf"[a-zA-Z]+ is not defined\.(?:\n[a-zA-Z ]+: [A-Za-z_]+(?:: .*)?{_PLACE})?",
    "stopped": r"[^\n]+ stops before [a-zA-Z]+ is defined: see above\.",
    "not attempted": r"[a-zA-Z]+ is not attempted yet: [a-zA-Z' ]+\.",
    "no instance": rf"{_CALL}[a-zA-Z]+ does not make an instance of a class\.",
    "needs": r"It needs [a-zA-Z_0-9/]+, which is not written yet\.",
    "nothing": r"Nothing was handed in for [a-zA-Z]+\.",
    "unreadable": r"[^\n]+ cannot be read: [^\n]+\.",
    "wrong": rf"{_CALL}(?:[^\n]*: )?(?:[Ee]xpected|missing:|\d+ of \d+ values differ) .*",
}
"""Every sentence a student may read here; what stands in them of the student's is an appendix."""


def reason_of(message: str) -> str:
    """What a message says, in short; it has to be one of our own sentences."""
    assert not CONTROL.search(message), f"{message!r} carries control characters"
    for reason, sentence in OURS.items():
        found = re.fullmatch(f"{sentence}{_PRINTED}", message, re.DOTALL)
        if found:
            return " ".join([reason, *(text for text in found.groupdict().values() if text)])
    raise AssertionError(f"this is no sentence of ours: {message!r}")


def write(root: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


# What of it `make test` tries.

WAY = re.compile(r"with(out)?_namespaces")


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All attacks take minutes: one case of each is tried in one way of sealing, then the rest."""
    attacks = [item for item in items if item.path.parent == HERE]
    tried = sample(f"{item.path.stem}::{item.name}" for item in attacks)
    for item in attacks:
        is_tried = f"{item.path.stem}::{item.name}" in tried
        item.add_marker(pytest.mark.slow if is_tried else pytest.mark.proof)
        # On one worker, because every other one would start launchers of its own.
        item.add_marker(pytest.mark.xdist_group("attacks"))


def sample(names: Iterable[str]) -> set[str]:
    """One case of every attack, with or without namespaces; always the same one."""
    ways: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(names):
        ways[name.partition("[")[0]][WAY.sub("", name)].append(name)
    tried = set()
    for attack, cases in ways.items():
        number = crc32(attack.encode())
        chosen = list(cases.values())[number // 2 % len(cases)]
        tried.add(chosen[number % len(chosen)])
    return tried


@dataclass(slots=True)
class Outside:
    """What no submission may touch, read or reach, and how to tell that it did."""

    root: Path
    tcp: socket.socket
    udp: socket.socket
    datagrams: socket.socket
    stream: socket.socket
    abstract: socket.socket
    signals: list[int] = field(default_factory=list)

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """Everything that listens."""
        return (self.tcp, self.udp, self.datagrams, self.stream, self.abstract)

    def constants(self, parent: int) -> str:
        """What the attacks know beforehand: every path, process id and port of interest."""
        known = {
            "COURSE": str(self.root / "course"),
            "CANARY": str(self.root / "canary"),
            "NEIGHBOUR": str(self.root / "class" / "alice" / "01_first" / "first.py"),
            "OUTSIDE": str(self.root / "outside"),
            "GRADER": os.getpid(),
            "PARENT": parent,
            "PORT": self.tcp.getsockname()[1],
            "UDP_PORT": self.udp.getsockname()[1],
            "DATAGRAMS": self.datagrams.getsockname(),
            "STREAM": self.stream.getsockname(),
            "ABSTRACT": self.abstract.getsockname(),
            "PROCESSORS": sorted(os.sched_getaffinity(0)),
            "SECRETS_BACKWARDS": [secret[::-1] for secret in SECRETS],
            "PATCH_FAILED": PATCH_FAILED,
            "JUDGING": JUDGING,
            "MODULES": SERVING,
        }
        return "".join(f"{name} = {value!r}\n" for name, value in known.items())

    def look(self) -> dict[str, Any]:
        """Everything outside as it is now."""
        found: dict[str, Any] = {
            str(path.relative_to(self.root)): _look_at(path)
            for folder in ("course", "outside", "canary")
            for path in [self.root / folder, *(self.root / folder).rglob("*")]
            if "__pycache__" not in path.parts
        }
        found["shared memory"] = _names("/dev/shm", "*attack*")
        found["signals"] = list(self.signals)
        found["processors"] = os.sched_getaffinity(0)
        found["heard"] = [heard for listener in self.sockets for heard in _heard(listener)]
        found["temporary"] = _names(self.root / "children", "*")
        return found


def _names(folder: str | Path, pattern: str) -> list[str]:
    """The names in a folder that fit a pattern."""
    return sorted(path.name for path in Path(folder).glob(pattern))


def _opened() -> list[str]:
    """What this process has open, by where each descriptor leads."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(str(descriptor.readlink()))
    return sorted(found)


def _look_at(path: Path) -> tuple[Any, ...]:
    found = path.lstat()
    text = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return (found.st_mode, found.st_uid, found.st_mtime_ns, found.st_nlink, text)


def _heard(listener: socket.socket) -> list[str]:
    """What came in at a listening socket."""
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
            return ["a connection"]
        return [repr(listener.recv(1000))]
    except BlockingIOError:
        return []


@pytest.fixture(scope="session", autouse=True)
def no_bytecode() -> None:
    """Whatever changes in the course's folder is to be an attack's doing, not our own importing."""
    sys.dont_write_bytecode = True


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """The course, a class, a canary, an open folder, and sockets that listen."""
    root = tmp_path_factory.mktemp("attacks")
    shutil.copytree(COURSE, root / "course", ignore=shutil.ignore_patterns("__pycache__"))
    write(root, {"canary": SECRET, "outside/file": "as it was"})
    write(root, {"class/alice/01_first/first.py": f"# {MARK_OF_THE_NEIGHBOUR}\n{HONEST}"})
    (root / "outside").chmod(0o777)
    (root / "children").mkdir()
    with contextlib.ExitStack() as stack:
        made = []
        for family, kind, address in (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_DGRAM, str(root / "d")),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(root / "s")),
            (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0attacked-{os.getpid()}"),
        ):
            listener = stack.enter_context(socket.socket(family, kind))
            listener.bind(address)
            listener.setblocking(False)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            made.append(listener)
        place = Outside(root, *made)
        watched = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO)
        before = {n: signal.signal(n, lambda got, _: place.signals.append(got)) for n in watched}
        yield place
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def bench(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionGrader]:
    """What the trusted side judges with."""
    made = full_grader(load_course(outside.root / "course"), SEED)
    # What judges with right parts, and runs known mistakes, starts with the first wrong answer and stays.
    wrong = tmp_path_factory.mktemp("wrong") / "01_first" / "first.py"
    wrong.parent.mkdir()
    wrong.write_text("def double(x):\n    return 3 * x\n\n\ndef total(x):\n    return double(x)\n")
    with contextlib.closing(default_launcher()) as launcher:
        grade_student(made, launcher, Student("somebody", wrong.parents[1]))
    yield made
    made.close()


def _launcher(outside: Outside, seal: Seal) -> Iterator[WarmParent]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_OF_THE_GRADER", SECRET)
        patch.setenv("TMPDIR", str(outside.root / "children"))
        made = WarmParent(seal, ("torch",))
    yield made
    made.close()


@pytest.fixture(scope="session")
def with_namespaces(outside: Outside) -> Iterator[WarmParent]:
    """Every layer, where the kernel grants namespaces; else the same as without."""
    granted = _grants_namespaces()
    yield from _launcher(outside, Seal(sealed=True, namespaces=granted))


@pytest.fixture(scope="session")
def without_namespaces(outside: Outside) -> Iterator[WarmParent]:
    """The required layers alone, as on a machine that grants no namespaces."""
    yield from _launcher(outside, Seal(sealed=True))


@pytest.fixture(scope="session")
def unsealed(outside: Outside) -> Iterator[WarmParent]:
    """No seal at all: what shows that an attempt would have succeeded."""
    yield from _launcher(outside, Seal())


def _grants_namespaces() -> bool:
    """Whether a process may make namespaces here."""
    pid = os.fork()
    if pid == 0:
        try:
            seal.enter_namespaces()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.fixture(params=["with_namespaces", "without_namespaces"])
def launcher(request: pytest.FixtureRequest) -> WarmParent:
    """Each way of sealing."""
    made: WarmParent = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def is_first_process(launcher: WarmParent) -> bool:
    """Whether student code is the first process of its own namespace."""
    return launcher.seal.namespaces


def _children(pid: int) -> list[int]:
    """The children of a process, zombies included."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def verdict_of(result: Result) -> Verdict:
    """A result in short."""
    lost = {
        exercise.id.partition("/")[2]: " ".join(check.outcome for check in exercise.checks)
        for assignment in result.assignments
        for exercise in assignment.exercises
        if exercise.score != exercise.max_score
    }
    reasons = [
        reason_of(check.message)
        for assignment in result.assignments
        for exercise in assignment.exercises
        for check in exercise.checks
        if check.message and check.outcome != Outcome.BLOCKED
    ]
    return (
        None if result.score is None else float(result.score),
        lost,
        reasons[0] if reasons else "",
    )


@dataclass(slots=True)
class Grader:
    """Grades submissions one after the other, and checks that each harmed only itself."""

    outside: Outside
    bench: SubmissionGrader
    launcher: WarmParent
    folder: Path

    def submit(self, files: dict[str, str | bytes], **limits: float) -> Result:
        """Grade a submission of some files, then an honest one, and look around."""
        student = self.folder / "mallory"
        for name, content in files.items():
            path = student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        before, parent = self.outside.look(), self.launcher.process.pid
        opened = _opened()
        bench = _with_limits(self.bench, limits)
        result = grade_student(bench, self.launcher, Student("mallory", student))
        assert self.honest() == (FULL, {}, "")
        if len(_opened()) > len(opened):
            # Something opened once and kept is no leak: the same once more must open nothing.
            gc.collect()
            opened = _opened()
            grade_student(bench, self.launcher, Student("mallory", student))
            gc.collect()
            assert len(_opened()) <= len(opened), (opened, _opened())
        assert self.outside.look() == before
        assert self.launcher.process.pid == parent
        assert _children(parent) == []
        return result

    def honest(self) -> Verdict:
        """What an honest submission gets."""
        alice = self.outside.root / "class" / "alice"
        return verdict_of(grade_student(self.bench, self.launcher, Student("alice", alice)))

    def constants(self) -> str:
        """What an attack knows beforehand."""
        denied = {name: pair[column(platform.machine())] for name, pair in DENIED.items()}
        return f"{self.outside.constants(self.launcher.process.pid)}DENIED = {denied!r}\n{HELPERS}"

    def script(self, code: str, *, before: str = "", **limits: float) -> Verdict:
        """Grade a script: what is known, an honest solution, then the attack's own code."""
        parts = [self.constants(), textwrap.dedent(before), HONEST, textwrap.dedent(code)]
        verdict = verdict_of(self.submit({"01_first/first.py": "\n".join(parts)}, **limits))
        assert verdict[2] != f"exit status {PATCH_FAILED}", "the attack's patch did not take hold"
        return verdict

    def verdict(self, result: Result) -> Verdict:
        """A result in short."""
        return verdict_of(result)

    def record(self, result: Result) -> dict[str, Any]:
        """A result as it is written down."""
        return to_json(result)

    def has_controls(self, text: str) -> bool:
        """Whether a text carries characters that a terminal or a page obeys."""
        return bool(CONTROL.search(text))

    def pristine(self, code: str) -> str:
        """A script that knows the names of things and runs some code at its end."""
        return "\n".join([self.constants(), HONEST, textwrap.dedent(code)])


def _with_limits(bench: SubmissionGrader, limits: dict[str, Any]) -> SubmissionGrader:
    """The same bench in a course that grants other limits."""
    course = bench.environment.course
    course = replace(course, limits=replace(course.limits, **limits))
    return replace(bench, environment=replace(bench.environment, course=course))


@pytest.fixture
def grader(
    outside: Outside,
    bench: SubmissionGrader,
    launcher: WarmParent,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Grader:
    """Grades whole submissions."""
    children = str(outside.root / "children")
    monkeypatch.setenv("TMPDIR", children)
    monkeypatch.setattr(tempfile, "tempdir", children)
    outside.look()  # what an earlier test heard is none of this one's
    return Grader(outside, bench, launcher, tmp_path)


@pytest.fixture
def attack(grader: Grader) -> Callable[..., Verdict]:
    """Grades an attack that is added to an honest script; the verdict on it."""
    return grader.script


@pytest.fixture
def attempt(grader: Grader) -> Callable[..., Verdict]:
    """Grades a script that tries what `ATTEMPTS` holds and fails if anything is not refused."""

    def made(code: str, **limits: float) -> Verdict:
        return grader.script(f"{textwrap.dedent(code)}\n{ATTEMPTS}", **limits)

    return made
