"""The processes in which a servant runs: one spawned, or many forked from a warm parent.

Part of what exists where student code runs: standard library, torch, and the servant. Started as
`python -I -c "…; from grader.sandbox.processes import spawned; spawned(…)"`.
"""

import contextlib
import gc
import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any

import torch

from grader.sandbox import seal
from grader.sandbox.loader import Loader, OutOfTime, describe_failure
from grader.sandbox.servant import Servant
from grader.sandbox.wire import Frame, Reader, WireFault, send

CONTROL_BYTES = 65_536
"""The longest message to and from a warm parent."""

MIB = 2**20
MAX_DESCRIPTORS = 256
"""What lies in the buffers of pipes and sockets is memory that no other limit counts."""


class BoundedText(io.TextIOBase):
    """What student code prints: the first `limit` characters are kept until they are drained."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.parts: list[str] = []
        self.kept = 0
        self.lost = 0

    @property
    def buffer(self) -> "BoundedText":
        """What `sys.stdout.buffer` is expected to be: bytes are taken, too."""
        return self

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str | bytes) -> int:
        """Keep what fits, count the rest."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        kept = text[: self.limit - self.kept]
        if kept:
            self.parts.append(kept)
            self.kept += len(kept)
        self.lost += len(text) - len(kept)
        return len(text)

    def drain(self) -> str:
        """What was printed since the last call."""
        text = "".join(self.parts)
        if self.lost and text:
            text += f"\n… ({self.lost} more characters were printed)\n"
        self.parts.clear()
        self.kept = self.lost = 0
        return text


def serve(connection: socket.socket, limits: dict[str, Any]) -> None:
    """Answer requests until the connection ends."""
    os.environ["TMPDIR"] = tempfile.tempdir = limits["folder"]
    printed = BoundedText(int(limits["output_kib"]) * 1024)
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = printed
    send(connection, Frame({"ready": True}))
    servant = Servant(
        Loader(register=True), drain=printed.drain, first=int(limits["first_instance"])
    )
    reader, alarm = Reader(), Alarm()
    with contextlib.suppress(EOFError, ConnectionError, WireFault):
        while True:
            frame = reader.receive(connection).frame()
            seconds = limits[
                "load_seconds" if frame.header["verb"] == "open" else "request_seconds"
            ]
            if frame.header.get("fresh"):
                alarm.listen()
            alarm.set(frame.header.pop("seconds", seconds))
            send(connection, _answer_in_time(servant, frame, alarm))


class Alarm:
    """Raises `OutOfTime` into student code that takes longer than it may.

    This only serves to name the line that was running: the deadline that counts is kept by the
    trusted side, which ends the process. The timer is not stopped after an answer, the next
    request sets it anew; in between it rings unheard.
    """

    def __init__(self) -> None:
        self.is_heard = False
        self.timer = getattr(signal, "setitimer", None)
        self.listen()

    def listen(self) -> None:
        """Have the alarm heard here; student code may have changed that."""
        if self.timer is not None:
            signal.signal(signal.SIGALRM, self._ring)

    def set(self, seconds: float) -> None:
        """Ring after so many seconds."""
        if self.timer is not None:
            self.is_heard = True
            self.timer(signal.ITIMER_REAL, seconds)

    def _ring(self, *_: object) -> None:
        if self.is_heard:
            raise OutOfTime("out of time")


def _answer_in_time(servant: Servant, frame: Frame, alarm: Alarm) -> Frame:
    """Answer, or say where the student's code was when its time was up."""
    try:
        answer = servant.answer(frame)
        alarm.is_heard = False
    except OutOfTime as error:
        alarm.is_heard = False
        failure = describe_failure(error, servant.sources.place_of)
        return Frame({"failure": failure.header(), "output": ""})
    return answer


# Limits the process puts on itself before it reads a line of student code.


def limit_process(limits: dict[str, Any]) -> None:
    """Limit memory, files and core dumps, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        size = int(limits["file_mib"]) * MIB
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with contextlib.suppress(ValueError, OSError):
        most = min(MAX_DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if sys.platform == "linux":
        memory = _virtual_memory() + int(limits["memory_mib"]) * MIB
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _virtual_memory() -> int:
    """Bytes of address space in use; torch alone takes some GiB of it."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (no pathlib here)
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _silence() -> None:
    """Point the three standard descriptors at nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def warm_up() -> None:
    """Run one small forward and backward, on one thread, so that children find it done."""
    torch.set_num_threads(1)
    layer = torch.nn.Linear(3, 3)
    result = torch.softmax(layer(torch.ones(2, 3)), dim=-1)
    # The first backward through a given cotangent imports a fifth of a second's worth of modules.
    torch.autograd.backward(result, torch.ones_like(result))


# A process of its own for each submission (where there is no fork, or forking is not safe).


def spawned(arguments: str) -> None:
    """Serve one submission in this fresh process; `arguments` is JSON."""
    limits = json.loads(arguments)
    descriptor = limits["descriptor"]
    if descriptor is None:  # Windows: the parent shares its socket through standard input
        size = int(sys.stdin.buffer.readline())
        connection = socket.fromshare(sys.stdin.buffer.read(size))  # type: ignore[attr-defined]
    else:
        connection = socket.socket(fileno=descriptor)
    os.chdir(limits["folder"])
    _silence()
    warm_up()
    limit_process(limits)
    serve(connection, limits)


# A warm parent: torch is imported once, each submission is a fork of it.


def warm_parent(descriptor: int, folder: str, inside: str) -> None:
    """Fork a child for each request on the control socket, until that socket closes.

    A message is JSON: `{"fork": limits}` with the child's connection as a passed descriptor, or
    `{"reap": pid}`. A child is a zombie until it is reaped on request, so that its process id
    names nothing else in between. All of them end with this process.

    Args:
        descriptor: the control socket.
        folder: the folder to make; removed at the end, also when the grader was killed.
        inside: the folder to make in it, where children mount one of their own.
    """
    control = socket.socket(fileno=descriptor)
    _silence()
    warm_up()
    if gc.isenabled():  # else this is a fork for one submission, and a collection takes longer
        gc.collect()
    gc.freeze()
    gc.enable()
    seal.adopt_orphans()
    try:
        for path in (folder, inside):
            os.mkdir(path, 0o700)  # noqa: PTH102 (no pathlib here)
        control.send(b'{"ready": true}')
        _serve_forks(control)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def forked_parent(descriptor: int, folder: str, inside: str, environment: dict[str, str]) -> None:
    """Be a warm parent in this fork of a process that has loaded nothing of the course; never return.

    Args:
        descriptor: the control socket.
        folder: as for `warm_parent`.
        inside: as for `warm_parent`.
        environment: what is left of the environment.
    """
    try:
        os.setsid()
        _close_all_but(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        warm_parent(descriptor, folder, inside)
    finally:
        os._exit(0)


def _serve_forks(control: socket.socket) -> None:
    living: set[int] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, CONTROL_BYTES, 1)
        if not message:
            return
        request = json.loads(message)
        if "fork" in request:
            pid = _fork(control, descriptors[0], request["fork"])
            living.add(pid)
            answer = {"pid": pid}
        else:
            answer = {"status": _reap(request["reap"], request["patience"])}
            living.discard(request["reap"])
            _end_strays(living)
        control.send(json.dumps(answer).encode())


def _fork(control: socket.socket, descriptor: int, limits: dict[str, Any]) -> int:
    """Fork a child that serves one submission, and answer its process id.

    New namespaces take effect in what is forked after them, so there a process in between makes
    them, forks the child, tells its id and ends. The child becomes this process's own.
    """
    if not limits["namespaces"]:
        pid = os.fork()
        if pid == 0:
            control.close()
            _child(socket.socket(fileno=descriptor), limits, None)
        os.close(descriptor)
        return pid
    told, tell = os.pipe()
    adopted, adopt = os.pipe()
    between = os.fork()
    if between == 0:
        status = 1
        try:
            control.close()
            os.close(told)
            seal.enter_namespaces()
            pid = os.fork()
            if pid == 0:
                os.close(tell)
                os.close(adopt)
                _child(socket.socket(fileno=descriptor), limits, adopted)
            os.write(tell, str(pid).encode())
            status = 0
        finally:
            os._exit(status)
    for number in (tell, adopted, descriptor):
        os.close(number)
    text = os.read(told, 32)
    os.close(told)
    os.waitpid(between, 0)
    with contextlib.suppress(BrokenPipeError):
        os.write(adopt, b"!")
    os.close(adopt)
    return int(text or b"0")


def _reap(pid: int, patience: float) -> int:
    """Wait some seconds for a child to end by itself, kill what is left of its group, reap it."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            break
        time.sleep(0.005)
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _end_strays(living: set[int]) -> None:
    """Kill what student code left running: orphans become children of the warm parent."""
    for _ in range(100):
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123
            strays = {int(pid) for pid in file.read().split()} - living
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _child(connection: socket.socket, limits: dict[str, Any], adopted: int | None) -> None:
    """Serve one submission in this fork, then end without running the parent's clean-up.

    Where `adopted` is a descriptor, a byte on it says that the process in between has ended: the
    kernel would take its end for that of the parent this process is tied to.
    """
    status = 1
    try:
        os.setsid()
        if adopted is not None and not os.read(adopted, 1):
            return
        seal.end_with_parent()
        _close_all_but(connection.fileno())
        try:
            _confine(limits)
        except OSError as error:
            send(connection, Frame({"fault": str(error)}))
            return
        serve(connection, limits)
        status = 0
    finally:
        os._exit(status)


def _close_all_but(descriptor: int) -> None:
    """Close every descriptor above the standard three, except one."""
    last = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, min(last, 65_536))


def _confine(limits: dict[str, Any]) -> None:
    """Put limits on this process and, where that is asked for, seal it."""
    folder = limits["folder"]
    if limits["namespaces"]:
        seal.mount_private_folder(folder, int(limits["file_mib"]))
    os.chdir(folder)
    limit_process(limits)
    if not limits["sealed"]:
        return
    os.environ.clear()
    os.environ.update({"HOME": folder, "TMPDIR": folder, "PATH": "", "LANG": "C.UTF-8"})
    # Without a file system of its own there is nothing to bound what is written: so nothing is.
    writable = [folder] if limits["namespaces"] else []
    seal.give_up_privileges()
    seal.restrict_files(seal.readable_paths(), [*writable, os.devnull])
    seal.filter_system_calls()
