"""Worker processes on this machine: each grades one student at a time, with checks loaded once."""

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from grader.core.processes import begin, block_ctrl_c
from grader.core.records import Result
from grader.grading.run_settings import RunSettings
from grader.grading.workers import kept_worker
from grader.submissions.student_folders import Student

MOST_STUDENTS = 1_000
"""Students after which a worker process is renewed, so that what it keeps cannot grow for ever."""
MOST_TRIES = 2
DIED = "its worker process died, and so did a second one"


def _grade(settings: RunSettings, student: Student) -> Result:
    """Grade in a worker process."""
    return kept_worker(settings).outcomes(student)


def _new_process() -> ProcessPoolExecutor:
    """A worker process, which begins with its first student and is renewed after many."""
    # Spawned, not forked: the main process has threads.
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, spawn, begin, max_tasks_per_child=MOST_STUDENTS)


def _submit(
    process: ProcessPoolExecutor, settings: RunSettings, student: Student
) -> Future[Result]:
    """Have a student graded; the first one starts the process."""
    block_ctrl_c(blocked=True)
    try:
        return process.submit(_grade, settings, student)
    finally:
        block_ctrl_c(blocked=False)


def grade_locally(
    settings: RunSettings, students: Iterable[Student], jobs: int
) -> Iterator[tuple[Student, Result | str]]:
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
    idle = [_new_process() for _ in range(min(jobs, len(waiting)))]
    busy: dict[Future[Result], tuple[ProcessPoolExecutor, Student, int]] = {}
    try:
        while waiting or busy:
            while waiting and idle:
                process, (student, tries) = idle[-1], waiting.popleft()
                busy[_submit(process, settings, student)] = (process, student, tries)
                idle.pop()  # not before: Ctrl-C in between must not lose a process
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                process, student, tries = busy.pop(future)
                idle.append(process)
                try:
                    yield student, future.result()
                except BrokenProcessPool:
                    idle[-1] = _new_process()
                    if tries == MOST_TRIES:
                        yield student, DIED
                    else:
                        waiting.appendleft((student, tries + 1))
    finally:
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        for process in (*idle, *(process for process, *_ in busy.values())):
            process.shutdown(cancel_futures=True)
