"""The processes in which a servant runs: one spawned, or many forked from a warm parent.

It runs beside student code. Started as
`python -I -c "…; from grader.sandbox.processes import spawned; spawned(…)"`.
"""

import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Iterable
from typing import NoReturn

from grader.sandbox import libraries, loader, seal
from grader.sandbox.failures import FindCell, OutOfTime, describe_failure
from grader.sandbox.limits import (
    TORCH_CACHE,
    WITHOUT_WINDOWS,
    ChildLimits,
    import_packages,
    limit_process,
)
from grader.sandbox.loader import Loader
from grader.sandbox.servant import Servant
from grader.sandbox.stream import Reader, send
from grader.sandbox.torch_later import has_torch, module_state, tensors
from grader.sandbox.wire import Frame, WireFault, unbatched

NOT_INTERRUPTED = (loader.__file__, __file__, "<frozen importlib._bootstrap>")
CALLS_STUDENT_CODE = Servant.invoke.__code__
CONTROL_BYTES = 65_536
"""The longest message to and from a warm parent."""
FORKS_IN_SMALL_PAGES = 20
"""After so many forks it pays to make the next ones cheap."""
HUGE_PAGE = 2**21
MADV_COLLAPSE = 25


class BoundedText(io.TextIOBase):
    """What student code prints: the first `limit` characters are kept until `drain`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.parts: list[str] = []
        self.kept = 0
        self.lost = 0

    @property
    def buffer(self) -> "BoundedText":
        """What `sys.stdout.buffer` is expected to be: bytes are accepted, too."""
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


def serve(connection: socket.socket, limits: ChildLimits) -> None:
    """Reply to requests until the connection ends."""
    os.environ["TMPDIR"] = tempfile.tempdir = limits.folder
    os.environ.update(WITHOUT_WINDOWS)
    printed = BoundedText(limits.output_kib * 1024)
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = printed
    warnings.filterwarnings("ignore", category=UserWarning)  # torch's, which no student printed
    alarm = Alarm()
    send(connection, Frame({"ready": True}))

    def announce(*place: str | int) -> None:
        send(connection, Frame({"at": place}))

    def ask(question: Frame) -> Frame:
        send(connection, question)
        return reader.receive(connection).frame()

    files = Loader(register=True, announce=announce, ask=ask)
    servant = Servant(files, drain=printed.drain, first=limits.first_instance)
    reader = Reader()
    with contextlib.suppress(EOFError, ConnectionError, WireFault):
        while True:
            for frame in unbatched(reader.receive(connection).frame()):
                if frame.header.get("fresh"):
                    alarm.install()
                reply = _reply_in_time(servant, frame, alarm)
                send(connection, reply)
                if "failure" in reply.header:
                    break


class Alarm:
    """Raises `OutOfTime` into student code when the trusted side sends its signal.

    This only serves to name the line that was running: the trusted side measures the time, rings
    again and again, and ends the process when nothing helps.
    """

    def __init__(self) -> None:
        self.files: Loader | None = None
        self.install()

    def install(self) -> None:
        """Handle the signal here, and let no timer send it; student code may have changed both."""
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _number: int, frame: types.FrameType | None) -> None:
        files = self.files
        # What is still loaded when time is up takes none; if it does, the process is ended.
        if files is not None and not files.is_late and _may_interrupt(frame, files.find_cell):
            raise OutOfTime("out of time")


def _may_interrupt(frame: types.FrameType | None, find_cell: FindCell) -> bool:
    """Whether student code runs, and nothing below it that would stay behind half done.

    That is an import, which leaves parts of modules, and our own code that loads a file.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename in NOT_INTERRUPTED:
            return False
        if find_cell(code.co_filename) is not None or code is CALLS_STUDENT_CODE:
            return True
        frame = frame.f_back
    return False


def _reply_in_time(servant: Servant, frame: Frame, alarm: Alarm) -> Frame:
    """Reply, or report where the student's code was when its time was up."""
    try:
        servant.loader.is_late = False
        alarm.files = servant.loader
        reply = servant.reply(frame)
        alarm.files = None
    except OutOfTime as error:
        alarm.files = None
        failure = describe_failure(error, servant.loader.find_cell)
        return Frame({"failure": failure.header(), "output": ""})
    return reply


def _silence() -> None:
    """Point the three standard descriptors at nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _prepare(packages: Iterable[str]) -> None:
    """Import what students' code may rely on, and let torch do once what takes long only once."""
    import_packages(packages)
    if has_torch():
        tensors.use_one_thread()
        module_state.warm_up()
    libraries.remember()


# A process of its own for each submission (where there is no fork, or forking is not safe).


def spawned(header: str, descriptor: int | None) -> None:
    """Serve one submission in this fresh process.

    Args:
        header: its `ChildLimits` as JSON.
        descriptor: the connection; None on Windows, where the parent shares its socket through
            standard input.
    """
    limits = ChildLimits(**json.loads(header))
    if descriptor is None:
        size = int(sys.stdin.buffer.readline())
        connection = socket.fromshare(sys.stdin.buffer.read(size))  # type: ignore[attr-defined]
    else:
        connection = socket.socket(fileno=descriptor)
    os.chdir(limits.folder)
    _silence()
    _prepare(limits.packages)
    limit_process(limits)
    serve(connection, limits)


# A warm parent: what takes long is imported once, each submission is a fork of it.


def warm_parent(descriptor: int, folder: str, inside: str, packages: tuple[str, ...]) -> None:
    """Fork a child for each request on the control socket, until that socket closes.

    A message is JSON: `{"fork": limits}` with the child's connection as a passed descriptor,
    `{"reap": pid, "patience": seconds}`, or first `{"trusted": function}`. A child is a zombie until it is reaped on request, so
    that its process id names nothing else in between. All of them end with this process.

    Args:
        descriptor: the control socket.
        folder: the folder to make; removed at the end, also when the grader was killed.
        inside: the folder to make in it, where children mount one of their own.
        packages: what is imported at once; what a child needs besides is named with it.
    """
    control = socket.socket(fileno=descriptor)
    _silence()
    _prepare(packages)
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


def forked_parent(
    descriptor: int,
    folder: str,
    inside: str,
    packages: tuple[str, ...],
    environment: dict[str, str],
) -> NoReturn:
    """Run as a warm parent in this fork, made before anything of the course was loaded.

    Args:
        descriptor: the control socket.
        folder: as for `warm_parent`.
        inside: as for `warm_parent`.
        packages: as for `warm_parent`.
        environment: what is left of the environment.
    """
    try:
        os.setsid()
        _close_all_but(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        warm_parent(descriptor, folder, inside, packages)
    finally:
        os._exit(0)


def _serve_forks(control: socket.socket) -> None:
    living: set[int] = set()
    forks = 0
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, CONTROL_BYTES, 2)
        if not message:
            return
        request = json.loads(message)
        if "trusted" in request:
            living.add(_fork_trusted(control, descriptors, request["trusted"]))
            continue
        if "fork" in request:
            limits = ChildLimits(**request["fork"])
            _prepare(limits.packages)  # once, for all children
            gc.freeze()
            forks += 1
            if forks == FORKS_IN_SMALL_PAGES:
                _take_huge_pages()
            pid = _fork(control, descriptors[0], limits)
            living.add(pid)
            reply = {"pid": pid}
        else:
            reply = {"status": _reap(request["reap"], request["patience"])}
            living.discard(request["reap"])
            _end_strays(living)
        control.send(json.dumps(reply).encode())


def _take_huge_pages() -> None:
    """Have this process's memory in pages of two MiB, where Linux can (from 6.1 on).

    A fork copies an entry for each page: with torch imported a fork and its end then take a third.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as file:  # noqa: PTH123
        for line in file.readlines():
            span, kind, *_others, name = f"{line} ".split(" ", 5)
            if kind == "rw-p" and name.strip() in ("", "[heap]"):
                start, end = (int(address, 16) for address in span.split("-"))
                for page in range(-(-start // HUGE_PAGE) * HUGE_PAGE, end, HUGE_PAGE):
                    if page + HUGE_PAGE <= end:  # one at a time: a page that cannot is left out
                        madvise(page, HUGE_PAGE, MADV_COLLAPSE)


def _fork_trusted(control: socket.socket, descriptors: list[int], function: str) -> int:
    """Fork a process for code of our own, which finds imported what students' code needs.

    It is asked for before the first child is. Nothing that it loads comes back here.

    Args:
        control: this process's end of the control socket.
        descriptors: what the function is called with.
        function: a module, a colon, and the name of a function in it.
    """
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            module, _, name = function.partition(":")
            getattr(importlib.import_module(module), name)(*descriptors)
        finally:
            os._exit(0)
    for number in descriptors:
        os.close(number)
    return pid


def _fork(control: socket.socket, descriptor: int, limits: ChildLimits) -> int:
    """Fork a child that serves one submission, and return its process id.

    New namespaces take effect in what is forked after them, so there a process in between makes
    them, forks the child, reports its id and ends. The child becomes this process's own.
    """
    if not limits.namespaces:
        pid = os.fork()
        if pid == 0:
            control.close()
            _child(socket.socket(fileno=descriptor), limits, None)
        os.close(descriptor)
        return pid
    reported, report = os.pipe()
    adopted, adopt = os.pipe()
    between = os.fork()
    if between == 0:
        status = 1
        try:
            control.close()
            os.close(reported)
            seal.enter_namespaces()
            pid = os.fork()
            if pid == 0:
                os.close(report)
                os.close(adopt)
                _child(socket.socket(fileno=descriptor), limits, adopted)
            os.write(report, str(pid).encode())
            status = 0
        finally:
            os._exit(status)
    for number in (report, adopted, descriptor):
        os.close(number)
    text = os.read(reported, 32)
    os.close(reported)
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


def _child(connection: socket.socket, limits: ChildLimits, adopted: int | None) -> None:
    """Serve one submission in this fork, then end without running the parent's clean-up.

    Args:
        connection: to the trusted side.
        limits: what this process puts on itself.
        adopted: where there was a process in between, a descriptor with a byte on it when that has
            ended: the kernel would treat its end as that of the parent this process is tied to.
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
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, min(os.sysconf("SC_OPEN_MAX"), 65_536))


def _confine(limits: ChildLimits) -> None:
    """Put limits on this process and, where that is asked for, seal it."""
    folder = limits.folder
    if limits.namespaces:
        seal.mount_private_folder(folder, limits.file_mib)
    os.chdir(folder)
    limit_process(limits)
    if not limits.sealed:
        return
    os.environ.clear()
    own = dict.fromkeys(("HOME", "TMPDIR", TORCH_CACHE), folder)
    os.environ.update({**own, "PATH": "", "LANG": "C.UTF-8"})
    # Without a file system of its own nothing limits the sum of what is written: so nothing may be.
    writable = [folder] if limits.namespaces else []
    seal.give_up_privileges()
    seal.restrict_files(seal.readable_paths(), [*writable, os.devnull])
    seal.filter_system_calls()
