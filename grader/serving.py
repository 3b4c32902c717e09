"""The processes in which a servant runs: one spawned, or many forked from a warm parent.

Part of what exists where student code runs: standard library, torch, and the servant. Started as
`python -I -c "…; from grader.serving import spawned; spawned(…)"`.
"""

import contextlib
import gc
import io
import json
import os
import signal
import socket
import sys
import time
from typing import Any

import torch

from grader.servant import Servant
from grader.sources import OutOfTime, Sources, describe_failure
from grader.wire import Frame, WireFault, receive, send

CONTROL_BYTES = 65_536
"""The longest message to and from a warm parent."""

MIB = 2**20


class BoundedText(io.TextIOBase):
    """What student code prints: the first `limit` characters are kept until they are drained."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.parts: list[str] = []
        self.kept = 0
        self.lost = 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str) -> int:
        """Keep what fits, count the rest."""
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
        return text


def serve(connection: socket.socket, limits: dict[str, Any]) -> None:
    """Answer requests until the connection ends."""
    printed = BoundedText(int(limits["output_kib"]) * 1024)
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = printed
    servant = Servant(
        Sources(register=True), drain=printed.drain, first=int(limits["first_instance"])
    )
    with contextlib.suppress(EOFError, ConnectionError, WireFault):
        while True:
            frame = receive(connection)
            send(connection, _answer_in_time(servant, frame))


def _answer_in_time(servant: Servant, frame: Frame) -> Frame:
    """Answer, raising `OutOfTime` into student code that takes longer than it may.

    This only serves to name the line that was running: the deadline that counts is kept by the
    trusted side, which ends the process.
    """
    timer = getattr(signal, "setitimer", None)
    seconds = frame.header.pop("seconds", 0)
    if timer is None or not seconds:
        return servant.answer(frame)
    signal.signal(signal.SIGALRM, _out_of_time)
    try:
        timer(signal.ITIMER_REAL, seconds)
        return servant.answer(frame)
    except OutOfTime as error:
        failure = describe_failure(error, servant.sources.files)
        return Frame({"failure": failure.header(), "output": ""})
    finally:
        timer(signal.ITIMER_REAL, 0)


def _out_of_time(*_: object) -> None:
    raise OutOfTime("out of time")


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
    torch.autograd.backward(torch.softmax(layer(torch.ones(2, 3)), dim=-1).sum())


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


def warm_parent(descriptor: int) -> None:
    """Fork a child for each request on the control socket, until that socket closes.

    A message is JSON: `{"fork": limits}` with the child's connection as a passed descriptor, or
    `{"reap": pid}`. A child is a zombie until it is reaped on request, so that its process id
    names nothing else in between.
    """
    control = socket.socket(fileno=descriptor)
    _silence()
    warm_up()
    gc.collect()
    gc.freeze()
    control.send(b'{"ready": true}')
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, CONTROL_BYTES, 1)
        if not message:
            return
        request = json.loads(message)
        if "fork" in request:
            pid = os.fork()
            if pid == 0:
                control.close()
                _child(socket.socket(fileno=descriptors[0]), request["fork"])
            os.close(descriptors[0])
            control.send(json.dumps({"pid": pid}).encode())
        else:
            status = _reap(request["reap"], request["patience"])
            control.send(json.dumps({"status": status}).encode())


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


def _child(connection: socket.socket, limits: dict[str, Any]) -> None:
    """Serve one submission in this fork, then end without running the parent's clean-up."""
    status = 1
    try:
        os.setsid()
        os.chdir(limits["folder"])
        limit_process(limits)
        serve(connection, limits)
        status = 0
    finally:
        os._exit(status)
