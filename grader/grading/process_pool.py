"""Worker processes on this machine: each grades one student at a time, with checks loaded once."""

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
from grader.grading.run_settings import RunSettings
from grader.submissions.student_folders import Student

if TYPE_CHECKING:
    from grader.grading.worker import Worker

MOST_STUDENTS = 1_000
"""Students after which a worker process is renewed, so that what it keeps cannot grow for ever."""
MOST_TRIES = 2
DIED = "its worker process died, and so did a second one"

_worker: "Worker | None" = None
"""What this process grades with, when it is a worker process."""


def _begin() -> None:
    """Set up a worker process: Ctrl-C is the main process's, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _block_ctrl_c(blocked=False)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _block_ctrl_c(*, blocked: bool) -> None:
    """Have Ctrl-C wait, where the system can; a new process inherits that."""
    if hasattr(signal, "pthread_sigmask"):
        how = signal.SIG_BLOCK if blocked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _grade(settings: RunSettings, student: Student) -> Written:
    """Grade in a worker process."""
    global _worker
    if _worker is None:
        from grader.grading.worker import Worker  # imports torch, which the main process lacks

        _worker = Worker(settings)
    return _worker.grade(student)


@dataclass
class _WorkerProcess:
    """A process that is replaced when it dies, and after many students."""

    settings: RunSettings
    executor: ProcessPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin with a new process."""
        self.executor = ProcessPoolExecutor(
            1,
            # Spawned, not forked: the main process has threads.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            max_tasks_per_child=MOST_STUDENTS,
        )

    def submit(self, student: Student) -> Future[Written]:
        """Have a student graded; the first one starts the process."""
        _block_ctrl_c(blocked=True)
        try:
            return self.executor.submit(_grade, self.settings, student)
        finally:
            _block_ctrl_c(blocked=False)


def grade_locally(
    settings: RunSettings, students: Iterable[Student], jobs: int
) -> Iterator[tuple[Student, Written | str]]:
    """Grade students in worker processes, and yield each as soon as it is done.

    A student whose worker dies is graded once more by a new one; when that dies, too, the reason
    is yielded. Whatever ends the iteration early ends the workers at once.

    Args:
        settings: the run's.
        students: who is to be graded.
        jobs: how many worker processes.

    Raises:
        GraderError: when a worker cannot begin.
    """
    others = set(multiprocessing.active_children())
    waiting = deque((student, 1) for student in students)
    workers = [_WorkerProcess(settings) for _ in range(min(jobs, len(waiting)))]
    idle = list(workers)
    busy: dict[Future[Written], tuple[_WorkerProcess, Student, int]] = {}
    try:
        while waiting or busy:
            while waiting and idle:
                worker, (student, tries) = idle.pop(), waiting.popleft()
                busy[worker.submit(student)] = (worker, student, tries)
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                worker, student, tries = busy.pop(future)
                idle.append(worker)
                try:
                    yield student, future.result()
                except BrokenProcessPool:
                    worker.renew()
                    if tries == MOST_TRIES:
                        yield student, DIED
                    else:
                        waiting.appendleft((student, tries + 1))
    finally:
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        for worker in workers:
            worker.executor.shutdown(cancel_futures=True)
