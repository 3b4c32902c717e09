"""Worker processes on this machine: each grades one student at a time, warm."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.grading.class_files import Written
from grader.grading.orders import WorkOrder
from grader.submissions.student_folders import Student

if TYPE_CHECKING:
    from grader.grading.worker import Worker

MOST_GROWTH = 512 * 2**20
"""Bytes by which a worker may grow after its first students before it is renewed."""
SETTLED = 20
"""Students after which a worker's size is taken as what it needs."""
MOST_TRIES = 2
DIED = "its worker process died, and so did a second one"

Graded = Future[tuple[Written, int]]

_station: "Worker | None" = None


def _begin() -> None:
    """Set up a worker process: Ctrl-C is the main process's, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _block_ctrl_c(blocked=False)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _block_ctrl_c(*, blocked: bool) -> None:
    """Have Ctrl-C wait, where the system can: a new process has it wait, too."""
    if hasattr(signal, "pthread_sigmask"):
        how = signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _grade(order: WorkOrder, student: Student) -> tuple[Written, int]:
    """Grade in a worker process; also how many bytes of memory that takes."""
    global _station
    if _station is None:
        from grader.grading.worker import (
            Worker,  # imports torch, which the main process does without
        )

        _station = Worker(order)
    return _station.grade(student), _resident()


def _resident() -> int:
    """Bytes of memory that this process takes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (once per student)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@dataclass
class _Worker:
    """A process that is replaced when it dies or grows."""

    order: WorkOrder
    done: int = 0
    needed: int = 0
    executor: ProcessPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin with a new process."""
        self.done = self.needed = 0
        # Spawned, not forked: the main process has threads.
        context = multiprocessing.get_context("spawn")
        self.executor = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)

    def submit(self, student: Student) -> Graded:
        """Have a student graded; the first one starts the process."""
        _block_ctrl_c(blocked=True)
        try:
            return self.executor.submit(_grade, self.order, student)
        finally:
            _block_ctrl_c(blocked=False)

    def note(self, size: int) -> None:
        """Take down how big the process is, and replace it when it has grown."""
        self.done += 1
        if self.done == SETTLED:
            self.needed = size
        if self.needed and size > self.needed + MOST_GROWTH:
            self.executor.shutdown()
            self.renew()


def grade_locally(
    order: WorkOrder, students: Iterable[Student], jobs: int
) -> Iterator[tuple[Student, Written | str]]:
    """Grade students in so many worker processes, in the order in which they are done.

    A student whose worker dies is graded once more by a new one; when that dies, too, the
    reason is what comes back. Whatever ends the iteration early ends the workers at once.

    Raises:
        GraderError: when a worker cannot begin.
    """
    others = set(multiprocessing.active_children())
    waiting = deque((student, 1) for student in students)
    workers = [_Worker(order) for _ in range(min(jobs, len(waiting)))]
    busy: dict[Graded, tuple[_Worker, Student, int]] = {}
    try:
        for worker in workers:
            _next(worker, waiting, busy)
        while busy:
            finished, _ = wait(busy, return_when=FIRST_COMPLETED)
            for future in finished:
                worker, student, tries = busy.pop(future)
                try:
                    done, size = future.result()
                except BrokenProcessPool:
                    worker.renew()
                    if tries < MOST_TRIES:
                        waiting.appendleft((student, tries + 1))
                    else:
                        yield student, DIED
                else:
                    worker.note(size)
                    yield student, done
                _next(worker, waiting, busy)
    finally:
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        for worker in workers:
            worker.executor.shutdown(cancel_futures=True)


def _next(
    worker: _Worker,
    waiting: deque[tuple[Student, int]],
    busy: dict[Graded, tuple[_Worker, Student, int]],
) -> None:
    """Give a worker the next student, if there is one."""
    if waiting:
        student, tries = waiting.popleft()
        busy[worker.submit(student)] = (worker, student, tries)
