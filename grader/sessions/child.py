"""A servant in a child process with limits, and the launchers that make such processes."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from grader.course import Limits
from grader.errors import GraderFault
from grader.language import _
from grader.sessions.base import failed
from grader.submission import Submission
from grader.wire import Frame, WireFault, encode, receive

PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
START_SECONDS = 120.0
PATIENCE = 0.5
"""Seconds in which a process that closed its connection may end by itself."""
INSTANCES_PER_PROCESS = 1_000_000
KEPT_VARIABLES = (
    "PATH",
    "SYSTEMROOT",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "LD_LIBRARY_PATH",
)


class Child(Protocol):
    """A running process that serves one submission."""

    connection: socket.socket

    def end(self, patience: float) -> int | None:
        """Let it end by itself for some seconds, then kill it; clean up after it.

        Returns:
            Its exit status; a signal's number is negative.
        """


class Launcher(Protocol):
    """Makes child processes."""

    isolation: tuple[str, ...]

    def launch(self, limits: Limits, generation: int) -> Child:
        """Start a child that waits for its first request."""

    def close(self) -> None:
        """Release what the launcher holds."""


@dataclass(frozen=True, slots=True)
class Seal:
    """What is put around a child besides limits: Landlock and seccomp, namespaces where granted."""

    sealed: bool = False
    namespaces: bool = False


def child_arguments(
    limits: Limits, generation: int, folder: str, seal: Seal | None = None
) -> dict[str, Any]:
    """What a child is told when it starts."""
    first = (generation - 1) * INSTANCES_PER_PROCESS
    return {
        **asdict(limits),
        **asdict(seal or Seal()),
        "folder": folder,
        "first_instance": first,
    }


def _command(function: str, *arguments: object) -> list[str]:
    call = f"{function}({', '.join(repr(argument) for argument in arguments)})"
    code = f"import sys; sys.path.insert(0, {PACKAGE_PARENT!r}); from grader.serving import {function}; {call}"
    return [sys.executable, "-I", "-c", code]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class SpawnedChild:
    """A fresh interpreter for one submission."""

    def __init__(self, limits: Limits, generation: int) -> None:
        self.folder = tempfile.mkdtemp(prefix="submission-")
        self.connection, theirs = socket.socketpair()
        arguments = child_arguments(limits, generation, self.folder)
        shares = hasattr(theirs, "share")
        arguments["descriptor"] = None if shares else theirs.fileno()
        self.process = subprocess.Popen(
            _command("spawned", json.dumps(arguments)),
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=() if shares else (theirs.fileno(),),
            start_new_session=True,
        )
        if shares and self.process.stdin is not None:
            shared = theirs.share(self.process.pid)  # type: ignore[attr-defined]
            self.process.stdin.write(b"%d\n" % len(shared) + shared)
            self.process.stdin.flush()
        theirs.close()

    def end(self, patience: float) -> int | None:
        """Kill the process and its group, and remove its folder."""
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        status = self.process.returncode
        _kill_group(self.process.pid)
        self.process.kill()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status


class SpawnLauncher:
    """Starts an interpreter for each submission: slow, and possible everywhere."""

    isolation: tuple[str, ...] = ("child process", "limits")

    def launch(self, limits: Limits, generation: int) -> Child:
        """Start a fresh interpreter."""
        return SpawnedChild(limits, generation)

    def close(self) -> None:
        """Nothing is held."""


class ForkedChild:
    """A fork of the warm parent for one submission."""

    def __init__(self, parent: "WarmParent", limits: Limits, generation: int) -> None:
        self.parent = parent
        self.folder = tempfile.mkdtemp(prefix="submission-")
        self.connection, theirs = socket.socketpair()
        arguments = child_arguments(limits, generation, self.folder, parent.seal)
        try:
            self.pid = parent.fork(arguments, theirs.fileno())
        except GraderFault:
            self.connection.close()
            shutil.rmtree(self.folder, ignore_errors=True)
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
        shutil.rmtree(self.folder, ignore_errors=True)
        return None if status is None else os.waitstatus_to_exitcode(status)


class WarmParent:
    """A process that has torch imported, knows no secret, and forks a child per submission."""

    isolation: tuple[str, ...] = ("child process", "limits")

    def __init__(self, seal: Seal | None = None) -> None:
        self.seal = seal or Seal()
        if self.seal.sealed:
            self.isolation = ("sealed", "child process", "limits", "landlock", "seccomp")
        if self.seal.namespaces:
            self.isolation = (*self.isolation, "namespaces")
        self._start()

    def _start(self) -> None:
        self.is_closed = False
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            _command("warm_parent", theirs.fileno()),
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self.ready = False

    def command(self, message: dict[str, Any], descriptor: int | None = None) -> dict[str, Any]:
        """Send a message, with a descriptor if one is given, and wait for the answer.

        Raises:
            GraderFault: when the warm parent is gone.
        """
        try:
            self.control.settimeout(START_SECONDS)
            if not self.ready:
                self.ready = bool(self.control.recv(65_536))
            data = json.dumps(message).encode()
            if descriptor is None:
                self.control.send(data)
            else:
                socket.send_fds(self.control, [data], [descriptor])
            answer = self.control.recv(65_536)
        except OSError as error:
            raise GraderFault(f"the process that starts children is gone ({error})") from error
        if not answer:
            raise GraderFault("the process that starts children has ended")
        reply: dict[str, Any] = json.loads(answer)
        return reply

    def fork(self, arguments: dict[str, Any], descriptor: int) -> int:
        """Fork a child, by a new warm parent where this one is gone.

        Raises:
            GraderFault: when the new one is gone as well.
        """
        try:
            return int(self.command({"fork": arguments}, descriptor)["pid"])
        except GraderFault:
            if self.is_closed:
                raise
            self._end()
            self._start()
            return int(self.command({"fork": arguments}, descriptor)["pid"])

    def launch(self, limits: Limits, generation: int) -> Child:
        """Fork a child."""
        return ForkedChild(self, limits, generation)

    def close(self) -> None:
        """End the warm parent."""
        self.is_closed = True
        self._end()

    def _end(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()


def default_launcher() -> Launcher:
    """A warm parent on Linux; elsewhere fresh interpreters (forking is not safe on macOS)."""
    return WarmParent() if sys.platform == "linux" else SpawnLauncher()


def _kill_group(pid: int) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


class _Deadline:
    """A socket that reads and writes until a moment, and no longer."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self.connection = connection
        self.until = time.monotonic() + seconds

    def _wait(self) -> None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read some bytes."""
        self._wait()
        return self.connection.recv_into(buffer)

    def sendall(self, data: bytes, /) -> None:
        """Write all bytes."""
        self._wait()
        self.connection.sendall(data)


class ChildSession:
    """A submission in a child process; after any death a new child serves the next request."""

    def __init__(
        self,
        launcher: Launcher,
        submission: Submission,
        limits: Limits,
        *,
        owns_launcher: bool = False,
    ) -> None:
        self.launcher = launcher
        self.owns_launcher = owns_launcher
        self.submission = submission
        self.limits = limits
        self.isolation = launcher.isolation
        self.generation = 1
        self.child: Child | None = None
        self.is_fresh = False
        self.seconds_left = limits.submission_seconds

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Ask the child, starting one where there is none."""
        if self.seconds_left <= 0:
            total = f"{self.limits.submission_seconds:g}"
            template = _("the {seconds} seconds for the whole submission are used up")
            return failed("timeout", template.format(seconds=total))
        if frame.header["verb"] == "forget":  # told with the next request, not in one of its own
            self.is_fresh = True
            return Frame({})
        if self.child is None:
            self._start()
        seconds = min(seconds, self.seconds_left)
        started = time.monotonic()
        try:
            # The child names the line it was in when its time is up; a child that does not is ended.
            header = {**frame.header, "seconds": seconds, "fresh": self.is_fresh}
            frame, self.is_fresh = Frame(header, frame.payload), False
            return self._exchange(frame, 1.25 * seconds + 0.5)
        except TimeoutError:
            self._end()
            template = _("your code was still running after {seconds} seconds")
            return failed("timeout", template.format(seconds=f"{seconds:g}"))
        except (EOFError, ConnectionError):
            return failed("crashed", _death(self._end(PATIENCE)))
        except WireFault as error:
            self._end()
            template = _("its process answered with something that is no answer: {error}")
            return failed("crashed", template.format(error=error))
        finally:
            self.seconds_left -= time.monotonic() - started

    def _start(self) -> None:
        try:
            self._start_child()
        except (EOFError, OSError, WireFault) as error:
            self._end()
            raise GraderFault(f"a child process could not be started ({error!r})") from error

    def _start_child(self) -> None:
        self.child = self.launcher.launch(self.limits, self.generation)
        greeting = receive(_Deadline(self.child.connection, START_SECONDS)).header
        if "fault" in greeting:
            raise GraderFault(f"a child process could not be confined: {greeting['fault']}")
        for key, source in self.submission.sources.items():
            sources = {key: source.header()}
            self._exchange(Frame({"verb": "sources", "sources": sources}), START_SECONDS)

    def _exchange(self, frame: Frame, seconds: float) -> Frame:
        if self.child is None:
            raise GraderFault("there is no child to ask")
        stream = _Deadline(self.child.connection, seconds)
        stream.sendall(encode(frame))
        return receive(stream)

    def _end(self, patience: float = 0.0) -> int | None:
        child, self.child = self.child, None
        self.generation += 1
        return child.end(patience) if child is not None else None

    def close(self) -> None:
        """End the child, if one is running, and the launcher if it is this session's own."""
        self._end()
        if self.owns_launcher:
            self.launcher.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _death(status: int | None) -> str:
    if status is not None and status < 0 and -status != signal.SIGKILL:
        template = _("the Python process of your code died of {signal}")
        return template.format(signal=_signal_name(-status))
    if status is not None and status >= 0:
        template = _("your code ended the Python process it ran in (exit status {status})")
        return template.format(status=status)
    return _("the Python process of your code ended without an answer")
