"""Whether this machine can seal student code: a child process tries what it must not be able to do."""

import atexit
import os
import secrets
import socket
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.core.errors import GraderError, UsageError
from grader.course.course import Exercise, Limits
from grader.sandbox import seal
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher, Seal, WarmParent, default_launcher
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.student import StudentHandle, StudentOutcome

PROBE = """
import os
import socket
import tempfile


def tried(action):
    try:
        action()
    except OSError:
        return "refused"
    except MemoryError:
        return "out of memory"
    return "allowed"


def fork():
    if os.fork() == 0:
        os._exit(0)


def write_outside(folder):
    with open(os.path.join(folder, "written"), "w") as file:
        file.write("x")


def allocate(mebibytes):
    bytes(mebibytes * 2**20)


def keep_a_file():
    with tempfile.TemporaryFile() as file:
        file.write(b"x")


def probe(canary, port, parent, mebibytes):
    return {
        "read": tried(lambda: open(canary).read()),
        "write": tried(lambda: write_outside(os.path.dirname(canary))),
        "change mode": tried(lambda: os.chmod(canary, 0o777)),
        "processes": tried(lambda: os.listdir("/proc")),
        "network": tried(lambda: socket.create_connection(("127.0.0.1", port), 1)),
        "signal": tried(lambda: os.kill(parent, 0)),
        "fork": tried(fork),
        "exec": tried(lambda: os.execv("/bin/true", ["true"])),
        "memory": tried(lambda: allocate(2 * mebibytes)),
        "temporary file": tried(keep_a_file),
        "process id": os.getpid(),
    }
"""

LAYERS = {
    "files (Landlock)": ("read", "write", "processes"),
    "system calls (seccomp)": ("change mode", "signal", "fork", "exec"),
    "network": ("network",),
    "memory limit": ("memory",),
}
"""Each required layer, and the attempts that it must refuse."""


class CannotSealError(UsageError):
    """This machine cannot seal student code, or not well enough."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of isolation as it was tried here."""

    name: str
    is_required: bool
    holds: bool
    detail: str


def examine() -> tuple[Layer, ...]:
    """Try every layer on this machine."""
    if unsupported := _unsupported():
        return unsupported
    with closing(WarmParent()) as launcher:
        return _examine(launcher)


def _unsupported() -> tuple[Layer, ...]:
    """The layer that this system lacks altogether: then nothing needs to be tried."""
    if not seal.is_supported():
        return (Layer("system", True, False, "only Linux on x86-64 and Arm64 can seal"),)
    if not seal.landlock_version():
        return (Layer("files (Landlock)", True, False, "this kernel has no Landlock"),)
    return ()


def _examine(launcher: WarmParent) -> tuple[Layer, ...]:
    """Try with children of this parent, which from now on seals them with what holds."""
    namespaces = _attempt(launcher, Seal(sealed=True, namespaces=True))
    with_them = isinstance(namespaces, dict) and namespaces["process id"] == 1
    results = namespaces if with_them else _attempt(launcher, Seal(sealed=True))
    launcher.seal = Seal(sealed=True, namespaces=with_them)
    granted = "granted" if with_them else "not granted here; the other layers hold without them"
    optional = Layer("namespaces", False, with_them, granted)
    if isinstance(results, str):
        return (Layer("sealed child", True, False, results), optional)
    required = []
    for name, attempts in LAYERS.items():
        allowed = [attempt for attempt in attempts if results.get(attempt) in ("allowed", None)]
        found = "a sealed child could still: " if allowed else "refused: "
        required.append(Layer(name, True, not allowed, found + ", ".join(allowed or attempts)))
    return (*required, optional)


def _attempt(launcher: WarmParent, seal: Seal) -> dict[str, object] | str:
    """What a child under this seal could do, or why it could not be asked."""
    limits = Limits(memory_mib=256)
    source = SourceFile("probe.py", "probe", False, (Cell(None, PROBE),))
    submission = Submission("probe", {source.key: source}, {"probe": Reading((source.key,))})
    launcher.wait()
    with socket.create_server(("127.0.0.1", 0)) as server:
        canary = Path(launcher.folder) / "canary"
        canary.write_text(secrets.token_hex(16))
        launcher.seal = seal
        session = ChildSession(launcher, submission, limits)
        handle = SubmissionHandle(submission, session, limits)
        student = StudentHandle(handle, Exercise("probe", "probe", 1))
        port = server.getsockname()[1]
        try:
            answer = student.call("probe", str(canary), port, os.getpid(), limits.memory_mib)
        except StudentOutcome as outcome:
            return f"a sealed child did not answer ({outcome.failure.message})"
        except GraderError as error:
            return str(error)
        finally:
            session.close()
    return answer.value if isinstance(answer.value, dict) else "a sealed child gave no answer"


def sealed_launcher(
    packages: tuple[str, ...] = (), *, started: Launcher | None = None
) -> WarmParent:
    """A warm parent whose children are sealed, after a probe showed that the seal holds.

    Args:
        packages: what a new one imports as it starts.
        started: the one to use; a new one where none is given.

    Raises:
        CannotSealError: when a required layer does not hold here.
    """
    _refuse(_unsupported())
    launcher = started if isinstance(started, WarmParent) else WarmParent(None, packages)
    try:
        _refuse(_examine(launcher))
    except BaseException:
        launcher.close()
        raise
    return launcher


def launcher_as_graded(packages: tuple[str, ...] = ()) -> Launcher:
    """What a class is graded with: sealed where this machine can, else child processes."""
    try:
        return sealed_launcher(packages)
    except CannotSealError:
        return default_launcher(packages)


def shared_launcher(packages: tuple[str, ...] = ()) -> Launcher:
    """The same, one for this process until its end."""
    return _shared_launcher(os.getpid(), packages)


@cache
def _shared_launcher(process: int, packages: tuple[str, ...]) -> Launcher:
    """By process, because a fork of one has its own."""
    launcher = launcher_as_graded(packages)
    atexit.register(lambda: launcher.close() if os.getpid() == process else None)
    return launcher


def _refuse(layers: tuple[Layer, ...]) -> None:
    missing = [f"{one.name}: {one.detail}" for one in layers if one.is_required and not one.holds]
    if missing:
        raise CannotSealError(
            f"This machine cannot seal student code ({'; '.join(missing)}). `grader doctor` shows "
            "every layer. Grade on Linux 5.13 or newer, or say `--isolation process` to grade "
            "without a seal: only code that you trust, or on a machine that you can lose."
        )
