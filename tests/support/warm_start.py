"""Warm parents for tests, as forks of one process that has imported torch.

A warm parent imports torch as it starts, which takes more than a second of processor time, hundreds
of times in a run. Here a server does that once for all tests of a worker, in an interpreter of its
own that runs one thread and knows nothing of the tests; each warm parent is then a fork of it, with
the environment and the descriptors that it would have been started with. What the server has not
imported, or what is read before an import, is left to a true start: see `takes`.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parents[2])
IMPORTED = ("torch", "numpy")
LIKE_THE_SERVERS = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "MPLBACKEND")
"""What is read as Python starts, or as torch is imported: where it differs, a fork would not do."""
LONGEST_MESSAGE = 65_536


class Fork:
    """A fork of the server, handled as a started program is.

    Args:
        server: which has forked it, and reaps it.
        pid: its id.
    """

    def __init__(self, server: "WarmStart", pid: int) -> None:
        self.server, self.pid = server, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status, if it has ended."""
        if self.returncode is None:
            self.returncode = self.server.reap(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: when it has not ended by then.
        """
        if self.returncode is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                ended = select.select([descriptor], [], [], timeout)[0]
            finally:
                os.close(descriptor)
            if not ended and timeout is not None:
                raise subprocess.TimeoutExpired("a fork of the server", timeout)
        status = self.poll()
        assert status is not None
        return status

    def kill(self) -> None:
        """End it, if it has not been reaped."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class WarmStart:
    """Starts warm parents in place of `launchers._start_interpreter`.

    Args:
        start: what starts an interpreter.
        environment: what makes a warm parent's environment.
    """

    def __init__(
        self, start: Callable[..., Any], environment: Callable[[], dict[str, str]]
    ) -> None:
        self.start, self.environment = start, environment
        self.control: socket.socket | None = None
        self.owner, self.asking = os.getpid(), threading.Lock()

    def takes(self, function: str, arguments: tuple[Any, ...]) -> bool:
        """Whether a fork of the server is what a start would make.

        That is a warm parent which imports torch, with the server's environment as far as it is
        read at once, and not one that a fork of this process starts: it has no server.
        """
        if function != "warm_parent" or os.getpid() != self.owner:
            return False
        if "torch" not in arguments[-1] or not set(arguments[-1]) <= set(IMPORTED):
            return False
        with self.asking:
            if self.control is None:
                self.control = self._serve()
        now = self.environment()
        return all(now.get(name) == self.given.get(name) for name in LIKE_THE_SERVERS)

    def __call__(self, function: str, *arguments: Any, kept: tuple[int, ...], **more: Any) -> Any:
        """Start what calls a function of `sandbox.processes`."""
        if not self.takes(function, arguments):
            return self.start(function, *arguments, kept=kept, **more)
        message = {"arguments": arguments, "environment": self.environment(), "kept": kept}
        return Fork(self, self._ask(message, kept))

    def _serve(self) -> socket.socket:
        self.given = self.environment()
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        here = str(Path(__file__).parent)
        code = (
            f"import sys; sys.path[:0] = [{ROOT!r}, {here!r}]; from warm_start import serve; "
            f"sys.path.remove({here!r}); serve({theirs.fileno()})"
        )
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", code],
                env=self.given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        atexit.register(self.close)  # after what is closed at the end itself
        return control

    def _ask(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> Any:
        assert self.control is not None
        with self.asking:
            socket.send_fds(self.control, [json.dumps(message).encode()], descriptors)
            return json.loads(self.control.recv(LONGEST_MESSAGE))

    def reap(self, pid: int) -> int | None:
        """The exit status of a fork that has ended."""
        status = self._ask({"reap": pid})
        return None if status is None else os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """End the server."""
        if self.control is not None and os.getpid() == self.owner:
            self.control.close()
            self.process.wait()


# The server's own process.


def serve(descriptor: int) -> None:
    """Fork a warm parent for each request, and reap it on request, until the socket closes."""
    from grader.sandbox import processes

    control = socket.socket(fileno=descriptor)
    processes._prepare(IMPORTED)
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, 8)
        if not message:
            return
        request = json.loads(message)
        if "reap" in request:
            pid, status = os.waitpid(request["reap"], os.WNOHANG)
            control.send(json.dumps(status if pid else None).encode())
            continue
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                control.close()
                _become(processes.warm_parent, request, descriptors)
            os._exit(0)
        for number in descriptors:
            os.close(number)
        control.send(json.dumps(pid).encode())


def _become(function: Callable[..., None], request: dict[str, Any], descriptors: list[int]) -> None:
    """Call the function as in a process that was started with these descriptors."""
    os.setsid()
    # Out of the way first: one may have the number that another is to get.
    above = max(*request["kept"], *descriptors) + 1
    moved = [os.dup2(given, above + place) for place, given in enumerate(descriptors)]
    for given, kept in zip(moved, request["kept"], strict=True):
        os.dup2(given, kept)
    for number in {*descriptors, *moved} - set(request["kept"]):
        os.close(number)
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    *numbers, packages = request["arguments"]
    function(*numbers, tuple(packages))
