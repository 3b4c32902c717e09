"""A class on many machines, over dask.distributed: submissions are sent as data, results come back.

Every worker needs the same course: where `GRADER_COURSE` says, else where the run has it.
"""

import contextlib
import logging
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.core.errors import UsageError
from grader.course.course import COURSE_VARIABLE
from grader.grading.class_files import Written
from grader.grading.run_settings import RunSettings
from grader.submissions.payload import Payload
from grader.submissions.student_folders import Student

if TYPE_CHECKING:
    from grader.grading.worker import Worker

START_SECONDS = 30
AHEAD = 4
"""Submissions that are under way per core of the cluster; the others wait on this machine."""

_workers: "dict[RunSettings, Worker]" = {}
"""What this process grades with, when it is a worker: one at a time, of the latest run."""
_one_at_a_time = threading.Lock()


def _grade(settings: RunSettings, work: Payload | Student) -> Written:
    """Grade on a worker, which keeps what it has loaded from one student to the next."""
    from grader.grading.worker import Worker

    with _one_at_a_time:
        if settings not in _workers:
            for other in list(_workers):
                _workers.pop(other).close()
            root = Path(os.environ.get(COURSE_VARIABLE, settings.root))
            _workers[settings] = Worker(replace(settings, root=root))
        worker = _workers[settings]
        return worker.grade_payload(work) if isinstance(work, Payload) else worker.grade(work)


def grade_on_cluster(
    settings: RunSettings,
    students: Sequence[Student],
    address: str,
    jobs: int,
    pack: Callable[[Student], Payload | Student],
) -> Iterator[tuple[Student, Written | str]]:
    """Grade students on the workers of a scheduler, and yield each as soon as it is done.

    A student whose worker is lost is given to another one; where several are lost with the same
    student, the reason is yielded.

    Args:
        settings: the run's.
        students: who is to be graded.
        address: of a running scheduler, or "local" for a cluster on this machine.
        jobs: how many workers a cluster on this machine has.
        pack: returns a submission as data, or the student where nothing was handed in.

    Raises:
        UsageError: when dask is not installed, or there is no scheduler at the address.
        GraderError: when a worker cannot begin.
    """
    distributed = _distributed()
    with contextlib.ExitStack() as stack:
        _silence(stack)
        client = _client(distributed, address, jobs, stack)
        run = secrets.token_hex(8)  # the seed is a secret, and keys stand in logs
        waiting = deque(enumerate(students))
        futures: dict[Any, Student] = {}
        done = distributed.as_completed()
        window = AHEAD * max(1, len(client.ncores()))
        while waiting or futures:
            while waiting and len(futures) < window:
                number, student = waiting.popleft()
                try:
                    work = pack(student)
                except OSError as error:
                    yield student, f"{error.filename} cannot be read ({error.strerror})"
                    continue
                key = f"grade-{run}-{number}"
                future = client.submit(_grade, settings, work, key=key, pure=False)
                futures[future] = student
                done.add(future)
            if futures:
                future = next(done)
                yield futures.pop(future), _result(distributed, future)
                future.release()


def _result(distributed: Any, future: Any) -> Written | str:
    try:
        written: Written = future.result()
    except distributed.scheduler.KilledWorker:
        return "several workers were lost while they graded it"
    return written


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            "--scheduler needs dask.distributed: install it with "
            "`pip install 'attention-course[cluster]'`."
        ) from error
    return distributed


def _silence(stack: contextlib.ExitStack) -> None:
    """Keep dask's warnings of lost workers off the screen: we handle them, or report them."""
    for name in ("distributed", "distributed.client"):
        logger = logging.getLogger(name)
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.ERROR)


def _client(distributed: Any, address: str, jobs: int, stack: contextlib.ExitStack) -> Any:
    if address == "local":
        cluster = distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,  # how its workers end concerns nobody
        )
        stack.enter_context(cluster)
        return stack.enter_context(distributed.Client(cluster))
    try:
        return stack.enter_context(distributed.Client(address, timeout=START_SECONDS))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"There is no scheduler at {address} ({error}). Start one with `dask scheduler` and "
            "give the address it prints."
        ) from error
