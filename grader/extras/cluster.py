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
from typing import Any

import distributed

from grader.classes.store import RunSettings
from grader.classes.workers import kept_worker
from grader.core.errors import UsageError
from grader.core.records import Result
from grader.course.course import COURSE_VARIABLE
from grader.intake.folders import Student
from grader.submissions.faults import FAULTS, in_words
from grader.submissions.payload import Payload

START_SECONDS = 30
AHEAD = 4
"""Submissions that are under way per core of the cluster; the others wait on this machine."""

_one_at_a_time = threading.Lock()


def _grade(settings: RunSettings, work: Payload | Student, only: tuple[str, ...]) -> Result:
    """Grade on a worker of the cluster."""
    root = Path(os.environ.get(COURSE_VARIABLE, settings.root))
    with _one_at_a_time:
        worker = kept_worker(replace(settings, root=root))
        if isinstance(work, Payload):
            return worker.outcomes_of_payload(work, only)
        return worker.outcomes(work)


def grade_on_cluster(
    settings: RunSettings,
    students: Sequence[Student],
    address: str,
    jobs: int,
    pack: Callable[[Student], Payload | Student],
) -> Iterator[tuple[Student, Result | str]]:
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
    with contextlib.ExitStack() as stack:
        for name in ("distributed", "distributed.client"):
            # Dask's warnings of lost workers stay off the screen: we handle or report them.
            logger = logging.getLogger(name)
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.ERROR)
        client = _client(address, jobs, stack)
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
                except FAULTS as error:
                    yield student, in_words(error)
                    continue
                key = f"grade-{run}-{number}"
                future = client.submit(_grade, settings, work, student.only, key=key, pure=False)
                futures[future] = student
                done.add(future)
            if futures:
                future = next(done)
                student = futures.pop(future)
                try:
                    yield student, future.result()
                except distributed.scheduler.KilledWorker:
                    yield student, "several workers were lost while they graded it"
                future.release()


def _client(address: str, jobs: int, stack: contextlib.ExitStack) -> Any:
    if address == "local":
        # How its workers end concerns nobody: what they fail in comes back with a student.
        quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
        cluster = distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, **quiet)
        stack.enter_context(cluster)
        return stack.enter_context(distributed.Client(cluster))
    try:
        return stack.enter_context(distributed.Client(address, timeout=START_SECONDS))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"There is no scheduler at {address} ({error}). Start one with `dask scheduler` and "
            "give the address it prints."
        ) from error
