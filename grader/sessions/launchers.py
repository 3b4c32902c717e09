"""Launchers: what makes child processes, each with limits and, where asked for, a seal."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from grader.core.errors import GraderFault, NoProcessFault
from grader.course.course import Limits
from grader.sandbox.limits import (
    LIBRARIES,
    TORCH_CACHE,
    WITHOUT_WINDOWS,
    ChildLimits,
    import_packages,
)

PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
START_SECONDS = 600.0
SLOW_EXIT = 6
"""How much longer than a fork an interpreter takes to end: it cleans up."""
INSTANCES_PER_PROCESS = 1_000_000
KEPT_VARIABLES = (
    *("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "LD_LIBRARY_PATH"),
)


class Child(Protocol):
    """A running process that serves one submission."""

    connection: socket.socket
    pid: int

    def end(self, patience: float) -> int | None:
        """Let it end by itself for some seconds, then kill it; clean up after it.

        Returns:
            Its exit status; a signal's number is negative.
        """


@dataclass(frozen=True, slots=True)
class Seal:
    """What is put around a child besides limits: Landlock and seccomp, namespaces where granted."""

    sealed: bool = False
    namespaces: bool = False

    @property
    def isolation(self) -> tuple[str, ...]:
        """The layers in words, as results record them."""
        seal = ("sealed",) if self.sealed else ()
        layers = ("landlock", "seccomp") if self.sealed else ()
        namespaces = ("namespaces",) if self.namespaces else ()
        return (*seal, "child process", "limits", *layers, *namespaces)


class Launcher(Protocol):
    """Makes child processes.

    Args:
        packages: what is imported for all of its children.
    """

    seal: Seal = Seal()
    packages: tuple[str, ...] = ()

    @property
    def isolation(self) -> tuple[str, ...]:
        """What keeps its children apart, in words."""
        return self.seal.isolation

    def launch(self, limits: Limits, generation: int) -> Child:
        """Start a child that waits for its first request."""

    def close(self) -> None:
        """Release what the launcher holds."""
        return


def child_limits(
    limits: Limits, generation: int, folder: str, seal: Seal | None = None
) -> ChildLimits:
    """What a child may use.

    Args:
        limits: the course's.
        generation: counts the processes of a submission; each has instance numbers of its own.
        folder: the child's own.
        seal: what is put around it.
    """
    given = {**asdict(limits), **asdict(seal or Seal())}
    # The trusted side keeps the seconds.
    hard = {name: most for name, most in given.items() if not name.endswith("_seconds")}
    return ChildLimits(folder, (generation - 1) * INSTANCES_PER_PROCESS, **hard)


def importing(limits: Limits, packages: tuple[str, ...]) -> Limits:
    """The same limits with more that is imported before student code runs."""
    return replace(limits, packages=tuple(dict.fromkeys((*packages, *limits.packages))))


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    # Torch's cache is a folder that is there: else torch makes one and leaves it.
    ours = {TORCH_CACHE: tempfile.gettempdir(), "OMP_NUM_THREADS": "1"}
    return {**kept, **ours, "PYTHONDONTWRITEBYTECODE": "1", **WITHOUT_WINDOWS}


def _start_interpreter(
    function: str, *arguments: object, kept: tuple[int, ...], stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Start an interpreter that calls a function of `sandbox.processes`.

    Args:
        function: its name.
        arguments: numbers, texts or None.
        kept: the descriptors that it keeps open.
        stdin: as for `Popen`.
    """
    code = (
        f"import sys; sys.path.insert(0, {PACKAGE_PARENT!r}); "
        f"from grader.sandbox.processes import {function}; {function}(*{arguments!r})"
    )
    return subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        env=_environment(),
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=kept,
        start_new_session=True,
    )


class SpawnedChild:
    """A fresh interpreter for one submission."""

    def __init__(self, limits: Limits, generation: int) -> None:
        self.folder = tempfile.mkdtemp(prefix="submission-")
        self.connection, theirs = socket.socketpair()
        shares = hasattr(theirs, "share")
        kept = () if shares else (theirs.fileno(),)
        header = json.dumps(asdict(child_limits(limits, generation, self.folder)))
        number = None if shares else theirs.fileno()
        self.process = _start_interpreter(
            "spawned", header, number, kept=kept, stdin=subprocess.PIPE
        )
        self.pid = self.process.pid
        if shares and self.process.stdin is not None:
            shared = theirs.share(self.process.pid)  # type: ignore[attr-defined]
            self.process.stdin.write(b"%d\n" % len(shared) + shared)
            self.process.stdin.flush()
        theirs.close()

    def end(self, patience: float) -> int | None:
        """Kill the process and its group, and remove its folder."""
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(SLOW_EXIT * patience)
        status = self.process.returncode
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        with contextlib.suppress(OSError):
            self.process.communicate()  # closes its standard input, too
        shutil.rmtree(self.folder, ignore_errors=True)
        return status


class SpawnLauncher(Launcher):
    """Starts an interpreter for each submission: slow, and possible everywhere."""

    def __init__(self, packages: tuple[str, ...] = ()) -> None:
        self.packages = packages

    def launch(self, limits: Limits, generation: int) -> Child:
        """Start a fresh interpreter."""
        return SpawnedChild(importing(limits, self.packages), generation)


class ForkedChild:
    """A fork of the warm parent for one submission."""

    def __init__(self, parent: "WarmParent", limits: Limits, generation: int) -> None:
        self.parent = parent
        self.connection, theirs = socket.socketpair()
        try:
            self.pid, self.folder = parent.fork(limits, generation, theirs.fileno())
        except (GraderFault, OSError):
            self.connection.close()
            raise
        finally:
            theirs.close()

    def end(self, patience: float) -> int | None:
        """Have the fork and its group killed and reaped, and remove its folder."""
        self.connection.close()
        try:
            status = self.parent.command({"reap": self.pid, "patience": patience})["status"]
        except GraderFault:  # the warm parent is gone, and its children with it
            status = None
        if self.folder != self.parent.inside:
            shutil.rmtree(self.folder, ignore_errors=True)
        return None if status is None else os.waitstatus_to_exitcode(status)


class WarmParent(Launcher):
    """A process that knows no secret, and forks a child per submission.

    Args:
        seal: what is put around its children.
        packages: what it imports as it starts; the rest when the first child needs it.
    """

    def __init__(self, seal: Seal | None = None, packages: tuple[str, ...] = ()) -> None:
        self.seal, self.packages = seal or Seal(), packages
        self._start()

    def _start(self) -> None:
        self.is_closed = False
        # Made and removed by the process itself, which notices when this one is killed.
        self.folder = f"{tempfile.gettempdir()}/submissions-{secrets.token_hex(8)}"
        self.inside = f"{self.folder}/inside"
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = self._run(theirs)
        theirs.close()
        self.ready = False

    def _run(self, theirs: socket.socket) -> "subprocess.Popen[bytes] | _Fork":
        number = theirs.fileno()
        given = number, self.folder, self.inside, self.packages
        return _start_interpreter("warm_parent", *given, kept=(number,))

    def wait(self) -> None:
        """Wait until it is ready.

        Raises:
            GraderFault: when it is gone.
        """
        if not self.ready:
            self._exchange(None)
            self.ready = True

    def command(self, message: dict[str, Any], descriptor: int | None = None) -> dict[str, Any]:
        """Send a message, with a descriptor if one is given, and wait for the reply.

        Raises:
            GraderFault: when the warm parent is gone.
        """
        self.wait()
        reply: dict[str, Any] = json.loads(self._exchange(json.dumps(message).encode(), descriptor))
        return reply

    def _exchange(self, data: bytes | None, descriptor: int | None = None) -> bytes:
        """Send these bytes, if there are any, and wait for some."""
        try:
            self.control.settimeout(START_SECONDS)
            if data is not None and descriptor is not None:
                socket.send_fds(self.control, [data], [descriptor])
            elif data is not None:
                self.control.send(data)
            received = self.control.recv(65_536)
        except OSError as error:
            raise NoProcessFault(f"the process that starts children is gone ({error})") from error
        if not received:
            raise NoProcessFault("the process that starts children has ended")
        return received

    def fork(self, limits: Limits, generation: int, descriptor: int) -> tuple[int, str]:
        """Fork a child; its id and its folder.

        Args:
            limits: of time, memory and output.
            generation: which process of its submission it is, from 1.
            descriptor: its end of the connection.

        Raises:
            GraderFault, OSError: when the warm parent is gone.
        """
        self.wait()
        # A sealed child mounts a folder of its own on the parent's, or may write nowhere.
        folder = self.inside
        if not self.seal.sealed:
            folder = tempfile.mkdtemp(prefix="submission-", dir=self.folder)
        header = asdict(child_limits(limits, generation, folder, self.seal))
        return int(self.command({"fork": header}, descriptor)["pid"]), folder

    def launch(self, limits: Limits, generation: int) -> Child:
        """Fork a child, by a new warm parent where this one is gone.

        Raises:
            GraderFault, OSError: when the new one is gone as well.
        """
        try:
            return ForkedChild(self, limits, generation)
        except (GraderFault, OSError):
            if self.is_closed:
                raise
            self._end()
            self._start()
            return ForkedChild(self, limits, generation)

    def fork_trusted(self, function: str, connection: socket.socket) -> None:
        """Have it fork a process of our own, which imports nothing anew, and which uses it from now on.

        Args:
            function: `module:name`, called with the descriptors of the connection and of the
                control socket, for an `InheritedParent`.
            connection: the process's end of it.
        """
        message = json.dumps({"trusted": function}).encode()
        with self.control:
            descriptors = [connection.fileno(), self.control.fileno()]
            socket.send_fds(self.control, [message], descriptors)

    def close(self) -> None:
        """End the warm parent."""
        self.is_closed = True
        self._end()

    def _end(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class InheritedParent(WarmParent):
    """A warm parent that this process was forked from; one that replaces it is this one's own.

    Args:
        control: the descriptor of the control socket.
        folder: the warm parent's.
        packages: what it has imported.
    """

    def __init__(self, control: int, folder: str, packages: tuple[str, ...]) -> None:
        self.seal, self.packages = Seal(), packages
        self.folder, self.inside = folder, f"{folder}/inside"
        self.control = socket.socket(fileno=control)
        self.ready = self.is_closed = self.is_own = False

    def _start(self) -> None:
        self.is_own = True
        super()._start()

    def _end(self) -> None:
        if self.is_own:
            super()._end()
        self.control.close()


@dataclass
class _Fork:
    """A fork of this process, handled as a started program is."""

    pid: int
    is_over: bool = False

    def kill(self) -> None:
        """End it, if it has not ended."""
        if not self.is_over:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait for its end."""
        if not self.is_over:
            os.waitpid(self.pid, 0)
            self.is_over = True


class ForkedParent(WarmParent):
    """A warm parent that is a fork of this process: what takes long is imported once for both.

    Make it before anything is loaded that student code must not see; one that replaces it
    after its end is a fresh interpreter.
    """

    def _run(self, theirs: socket.socket) -> "subprocess.Popen[bytes] | _Fork":
        if self.is_restarted:
            return super()._run(theirs)
        self.is_restarted = True
        from grader.sandbox.processes import forked_parent

        # Here, because this process needs them as well.
        import_packages(name for name in LIBRARIES if name in self.packages)
        pid = os.fork()
        if pid == 0:
            given = theirs.fileno(), self.folder, self.inside, self.packages
            forked_parent(*given, _environment())
        return _Fork(pid)

    is_restarted = False


def early_launcher(packages: tuple[str, ...] = ()) -> Launcher:
    """The quickest launcher there is, for a process that has loaded nothing yet.

    A fork of this process on Linux: what it has imported need not be imported twice.
    """
    is_linux = sys.platform == "linux"
    return ForkedParent(packages=packages) if is_linux else SpawnLauncher(packages)


def default_launcher(packages: tuple[str, ...] = ()) -> Launcher:
    """A warm parent on Linux; elsewhere fresh interpreters (forking is not safe on macOS)."""
    is_linux = sys.platform == "linux"
    return WarmParent(packages=packages) if is_linux else SpawnLauncher(packages)
