"""Worker processes on this machine: each grades one student at a time, with checks loaded once."""

import multiprocessing
import os
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from grader.classes.store import RunSettings
from grader.classes.workers import new_worker
from grader.core.processes import begin, block_ctrl_c
from grader.core.records import Result
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.sessions.launchers import InheritedParent, Launcher, WarmParent

MOST_STUDENTS = 1_000
"""Students after which a worker process is renewed, so that what it keeps cannot grow for ever."""
MOST_TRIES = 2
DIED = "its worker process died, and so did a second one"
GONE = (EOFError, OSError)
CAN_FORK = sys.platform == "linux"


class _Preparing(NamedTuple):
    """What a worker sends while it runs known mistakes of an exercise."""

    exercise: str
    number: int


class _ForkedProcess:
    """A fork of the warm parent, made before that has any child: torch is imported once for both."""

    def __init__(self, settings: RunSettings, packages: tuple[str, ...]) -> None:
        self.parent = WarmParent(None, packages)
        ours, theirs = socket.socketpair()
        with theirs:
            self.parent.fork_trusted(f"{__name__}:work_in_fork", theirs)
        self.link = Connection(ours.detach())
        # What it must not have before it is forked: the warm parent knows no secret.
        own = dict(os.environ), sys.path, sys.dont_write_bytecode
        self.link.send((*own, (self.parent.folder, packages), settings))

    def end(self) -> None:
        """End it at once, with all of its children."""
        self.link.close()
        self.parent.close()


class _SpawnedProcess:
    """A fresh interpreter, where no process may be forked."""

    def __init__(self, settings: RunSettings) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.link, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_work_in_process, args=(theirs, settings))
        block_ctrl_c(blocked=True)
        try:
            self.process.start()
        finally:
            block_ctrl_c(blocked=False)
        theirs.close()

    def end(self) -> None:
        """End it at once."""
        self.link.close()
        self.process.kill()
        self.process.join()


class _Worker:
    """A worker process, which is replaced after its death, and after many students."""

    def __init__(self, settings: RunSettings, packages: tuple[str, ...]) -> None:
        self.settings, self.packages = settings, packages
        self._start()

    def _start(self) -> None:
        self.students = 0
        self.process: _ForkedProcess | _SpawnedProcess = (
            _ForkedProcess(self.settings, self.packages)
            if CAN_FORK
            else _SpawnedProcess(self.settings)
        )

    def begin(self, student: Student) -> Any:
        """Have a student graded; return what there is something to read on when that is done."""
        if self.students >= MOST_STUDENTS:
            self.renew()
        self.students += 1
        with suppress(*GONE):  # whoever reads notices
            self.process.link.send(student)
        return self.process.link

    def renew(self) -> None:
        """End the process, and begin another one."""
        self.process.end()
        self._start()


def work_in_fork(connection: int, control: int) -> None:
    """Grade in a fork of the warm parent, which the control socket is to be asked for children by."""
    link = Connection(connection)
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    environment, path, sys.dont_write_bytecode, parent, settings = link.recv()
    os.environ.update(environment)
    sys.path[:] = path
    _work(link, settings, InheritedParent(control, *parent))


def _end_with(connection: int) -> None:
    """End this process when the other end is closed, also in the middle of its work."""
    poll = select.poll()
    poll.register(connection, 0)
    poll.poll()
    os._exit(1)


def _work_in_process(link: Any, settings: RunSettings) -> None:
    begin()
    _work(link, settings, None)


def _work(link: Any, settings: RunSettings, launcher: Launcher | None) -> None:
    """Grade each student that comes, until nobody sends one; a failure of ours is sent back."""
    worker = None

    def says(exercise: str, number: int) -> None:
        link.send(_Preparing(exercise, number))

    with suppress(*GONE):
        while True:
            student = link.recv()
            try:
                worker = worker or new_worker(settings, launcher, says)
                reply: Result | Exception = worker.outcomes(student)
            except Exception as error:
                reply = error
            link.send(reply)


def grade_locally(
    settings: RunSettings,
    students: Iterable[Student],
    jobs: int,
    says: Callable[[str, int], None] | None = None,
) -> Iterator[tuple[Student, Result | str]]:
    """Grade students in worker processes, and yield each as soon as it is done.

    A student whose worker dies is graded once more by a new one; when that dies, too, the reason
    is yielded. Whatever ends the iteration early ends the workers at once.

    Args:
        settings: the run's.
        students: who is to be graded.
        jobs: how many worker processes.
        says: is told of which exercise a worker runs how many known mistakes now.

    Raises:
        GraderError: when a worker cannot begin.
    """
    waiting = deque((student, 1) for student in students)
    packages = load_course(settings.root).packages
    workers: list[_Worker] = []
    idle: list[_Worker] = []
    busy: dict[Any, tuple[_Worker, Student, int]] = {}
    try:
        while waiting or busy:
            while waiting and (idle or len(workers) < jobs):
                if not idle:
                    workers.append(_Worker(settings, packages))
                    idle.append(workers[-1])
                worker, (student, tries) = idle.pop(), waiting.popleft()
                busy[worker.begin(student)] = (worker, student, tries)
            ready: list[Any] = wait(busy)
            for link in ready:
                try:
                    reply = link.recv()
                except GONE:
                    reply = None
                if isinstance(reply, _Preparing):
                    if says:
                        says(*reply)
                    continue
                worker, student, tries = busy.pop(link)
                idle.append(worker)
                if reply is None:
                    worker.renew()
                    if tries == MOST_TRIES:
                        yield student, DIED
                    else:
                        waiting.appendleft((student, tries + 1))
                    continue
                if isinstance(reply, Exception):
                    raise reply
                yield student, reply
    finally:
        for worker in workers:
            worker.process.end()
