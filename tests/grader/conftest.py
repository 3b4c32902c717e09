"""Helpers of the package's own tests: small submissions, a servant to talk to, child processes."""

import os
import select
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from travel import travelled

from grader.course.course import Course, Exercise, Limits, load_course
from grader.judging.seal_probe import sealed_launcher
from grader.release.stubs import generate
from grader.sandbox.loader import Loader, Opened
from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame, Packer, Unpacker
from grader.sessions.child import SLACK, ChildSession
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import Launcher, SpawnLauncher, WarmParent
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.student import StudentHandle

KEY = "01_first/first.py"
EXERCISE = Exercise("01_first", "one", 1)

MANIFEST = """\
[course]
title = "A small course"

[[assignments]]
id = "01_first"
title = "The first"
[assignments.exercises]
one = 1

[[assignments]]
id = "02_second"
title = "The second, which builds on the first"
imports = ["01_first"]
[assignments.exercises]
two = 2
"""

SOLUTIONS = {
    "01_first/first.py": '''\
# %% exercise="one"
def one() -> int:
    """One."""
    # TODO: answer one.
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION
''',
    "02_second/second.py": '''\
# %%
from first import one


# %% exercise="two"
def two() -> int:
    """Two."""
    # TODO: add one to one.
    ### BEGIN SOLUTION
    return one() + 1
    ### END SOLUTION
''',
}


@pytest.fixture(scope="session")
def small_course_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of `small_course`, made once."""
    root = tmp_path_factory.mktemp("small") / "course"
    root.mkdir()
    (root / "course.toml").write_text(MANIFEST, "utf-8")
    for name, text in SOLUTIONS.items():
        path = root / "solutions" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    for file in generate(load_course(root)):
        file.write(root)
    return root


@pytest.fixture
def small_course(small_course_files: Path, tmp_path: Path) -> Course:
    """A course of two assignments, `first` with `one` and `second` (which imports it) with `two`."""
    return load_course(shutil.copytree(small_course_files, tmp_path / "course"))


# Values.


@pytest.fixture
def travel() -> Callable[[object], Any]:
    """Sends a value through a frame's bytes, and answers what arrives."""
    return travelled


# Submissions.


def source_of(key: str, content: str | list[str], *, importable: bool = True) -> SourceFile:
    """A file: a script for a text, a notebook for a list of code cells."""
    cells = (
        (Cell(None, content),)
        if isinstance(content, str)
        else tuple(Cell(number, text) for number, text in enumerate(content, 1))
    )
    return SourceFile(key, Path(key).stem, importable, cells)


def submission_of(files: Mapping[str, str | list[str]]) -> Submission:
    """A submission that is read for `EXERCISE`, its files in the order given."""
    sources = {key: source_of(key, content) for key, content in files.items()}
    readings = {EXERCISE.assignment: Reading(tuple(sources), next(iter(sources), ""))}
    return Submission("someone", sources, readings)


@pytest.fixture
def submit() -> Callable[..., Submission]:
    """Makes a submission of one script's text, or of a mapping from keys to texts or cells."""

    def make(files: str | Mapping[str, str | list[str]]) -> Submission:
        return submission_of({KEY: files} if isinstance(files, str) else files)

    return make


@pytest.fixture
def hand_in() -> Callable[..., StudentHandle]:
    """Makes a student handle on the exercise `one` of a submission that runs in this process."""

    def make(files: str | Mapping[str, str | list[str]]) -> StudentHandle:
        submission = submission_of({KEY: files} if isinstance(files, str) else files)
        session = InProcessSession(submission)
        return StudentHandle(SubmissionHandle(submission, session, Limits()), EXERCISE)

    return make


@pytest.fixture
def sources_of(submit: Callable[..., Submission]) -> Callable[..., Loader]:
    """Makes the sources of a submission, as a servant has them."""

    def make(files: Any, **options: Any) -> Loader:
        sources = Loader(**options)
        sources.add({key: source.header() for key, source in submit(files).sources.items()})
        return sources

    return make


@pytest.fixture
def load(sources_of: Callable[..., Loader]) -> Callable[..., Opened]:
    """Loads the first file of a submission."""

    def make(files: str | Mapping[str, str | list[str]]) -> Opened:
        sources = sources_of(files)
        return sources.open(next(iter(sources.texts)))

    return make


# A servant, spoken to in frames.


@dataclass(frozen=True, slots=True)
class Reply:
    """A servant's reply, its value and gradients rebuilt."""

    header: dict[str, Any]
    value: Any = None
    gradients: Any = None

    @property
    def failure(self) -> dict[str, Any]:
        """What the reply says of a failure."""
        return self.header["failure"]


@dataclass(slots=True)
class Conversation:
    """A servant with one submission."""

    servant: Servant
    key: str = KEY

    def ask(self, verb: str, payload: bytes = b"", **header: Any) -> Reply:
        """Send a request about the first file."""
        frame = Frame({"verb": verb, "source": self.key, **header}, payload)
        reply = self.servant.reply(frame)
        unpacker = Unpacker(reply.payload)
        value = unpacker.unpack(reply.header.get("value"))
        return Reply(reply.header, value, unpacker.unpack(reply.header.get("gradients")))

    def open(self) -> Reply:
        """Load the first file."""
        return self.ask("open")

    def get(self, name: str) -> Reply:
        """Ask for a name's value."""
        return self.ask("get", name=name)

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Reply:
        """Call a name, or an instance that a `RemoteObject` stands for."""
        asked = ("seed", "training", "cotangent", "operations", "meter")
        special = {key: kwargs.pop(key, None) for key in asked}
        packer = Packer()
        header = {
            **({"name": target} if isinstance(target, str) else {"instance": target.number}),
            "args": [packer.pack(value) for value in args],
            "kwargs": {name: packer.pack(value) for name, value in kwargs.items()},
            **special,
        }
        if special["cotangent"] is not None:
            header["cotangent"] = packer.pack(special["cotangent"])
        return self.ask("call", packer.payload(), **header)

    def state(self, instance: Any) -> dict[str, Any]:
        """An instance's state, tensors rebuilt."""
        reply = self.servant.reply(Frame({"verb": "state", "instance": instance.number}))
        unpacker = Unpacker(reply.payload)
        tensors = {
            name: unpacker.unpack(reply.header[name])
            for name in ("parameters", "buffers")
            if name in reply.header
        }
        return {**reply.header, **tensors}

    def load(self, instance: Any, **values: Any) -> dict[str, Any]:
        """Load values; a dot in a parameter's name is written as two underscores."""
        packer = Packer()
        node = packer.pack({name.replace("__", "."): value for name, value in values.items()})
        header = {"verb": "load", "instance": instance.number, "values": node}
        return self.servant.reply(Frame(header, packer.payload())).header


@pytest.fixture
def serve() -> Callable[..., Conversation]:
    """Makes a conversation with a servant of one script's text, or of several files."""

    def make(files: str | Mapping[str, str | list[str]]) -> Conversation:
        submission = submission_of({KEY: files} if isinstance(files, str) else files)
        servant = Servant()
        servant.loader.add({key: s.header() for key, s in submission.sources.items()})
        return Conversation(servant, next(iter(submission.sources)))

    return make


# Child processes.


@pytest.fixture(scope="session")
def children_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that child processes take for the system's temporary one."""
    return tmp_path_factory.mktemp("children")


@pytest.fixture
def temporary_folder(children_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, also for this process."""
    monkeypatch.setenv("TMPDIR", str(children_folder))
    monkeypatch.setattr(tempfile, "tempdir", str(children_folder))
    return children_folder


@pytest.fixture
def leftovers(temporary_folder: Path) -> Callable[[], list[str]]:
    """Lists what has come into the temporary folder since the test began."""
    before = set(temporary_folder.iterdir())
    return lambda: sorted(path.name for path in set(temporary_folder.iterdir()) - before)


@pytest.fixture(scope="session")
def warm_parent(children_folder: Path) -> Iterator[WarmParent]:
    """One warm parent for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(children_folder))
        parent = WarmParent(packages=("torch",))
        parent.wait()
    yield parent
    parent.close()


@pytest.fixture(scope="session")
def sealed_parent(children_folder: Path) -> Iterator[WarmParent]:
    """One warm parent of sealed children for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(children_folder))
        parent = sealed_launcher(("torch",))
    yield parent
    parent.close()


@pytest.fixture(params=["forked", pytest.param("spawned", marks=pytest.mark.proof)])
def launcher(request: pytest.FixtureRequest, temporary_folder: Path) -> Launcher:
    """Each way of making child processes."""
    if request.param == "spawned":
        return SpawnLauncher()
    parent: WarmParent = request.getfixturevalue("warm_parent")
    return parent


@dataclass(slots=True)
class Talk:
    """A submission in a child process."""

    session: ChildSession

    def ask(self, verb: str, seconds: float | None = None, **header: Any) -> dict[str, Any]:
        """Send a request, with the time that its limits give it; the answer's header."""
        limits, frame = self.session.limits, Frame({"verb": verb, "source": KEY, **header})
        usual = limits.load_seconds if verb == "open" else limits.request_seconds
        return self.session.ask(frame, usual if seconds is None else seconds).header

    def call(self, name: str, seconds: float | None = None) -> dict[str, Any]:
        """Call a function without arguments."""
        return self.ask("call", seconds, name=name, args=[], kwargs={})

    def get(self, name: str) -> Any:
        """A constant's value as it travels."""
        return self.ask("get", name=name)["value"]


@dataclass(slots=True)
class Talks:
    """Makes talks, and ends them."""

    launcher: Launcher
    talks: list[Talk] = field(default_factory=list)

    def __call__(
        self, files: str | Mapping[str, str | list[str]], *, slack: float = SLACK, **limits: Any
    ) -> Talk:
        """Talk to a submission with the usual limits, changed by name."""
        submission = submission_of({KEY: files} if isinstance(files, str) else files)
        session = ChildSession(self.launcher, submission, Limits(**limits), slack=slack)
        talk = Talk(session)
        self.talks.append(talk)
        return talk


@pytest.fixture
def talk_to(launcher: Launcher) -> Iterator[Talks]:
    """Makes a talk with a submission in a child process of each kind."""
    talks = Talks(launcher)
    yield talks
    for talk in talks.talks:
        talk.session.close()


@dataclass(slots=True)
class Tether:
    """A named pipe that student code holds open: it ends when no process holds it any more."""

    path: Path
    descriptor: int

    def received(self, patience: float = 20.0) -> bytes:
        """What was written into it since; nothing when every process that held it is gone.

        Raises:
            TimeoutError: when somebody holds it and stays silent.
        """
        if not select.select([self.descriptor], [], [], patience)[0]:
            raise TimeoutError("a process still holds the pipe")
        return os.read(self.descriptor, 1000)


@pytest.fixture
def tether(tmp_path: Path) -> Iterator[Tether]:
    """A named pipe, open for reading."""
    path = tmp_path / "tether"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield Tether(path, descriptor)
    os.close(descriptor)
