"""Tests of a class on the workers of a real dask scheduler."""

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from grader.classes.store import STORE
from grader.core.errors import UsageError
from grader.extras import cluster as clusters

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("each alone"),
    pytest.mark.only_on("linux", "darwin", reason="processes are killed by signal"),
]

TIMES = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5 * {}\n"
STUDENTS = 60
DASK = (sys.executable, "-m", "dask")


@dataclass
class Cluster:
    """A scheduler and workers, each in processes of their own."""

    folder: Path
    environment: dict
    started: list = field(default_factory=list)

    def start(self, *arguments, **environment):
        """Start a command; what it logs goes to a file."""
        log = self.folder / f"log-{len(self.started)}"
        with log.open("w") as file:
            process = subprocess.Popen(
                [str(argument) for argument in arguments],
                cwd=self.folder,
                env={**self.environment, **environment},
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(process)
        return process, log

    def scheduler(self):
        """Start a scheduler on a free port; its address."""
        _, log = self.start(
            *DASK, "scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1"
        )
        return "tcp://" + found(log, r"Scheduler at:\s+tcp://(\S+)")

    def worker(self, address, **environment):
        """Start a worker with one process; answer its nanny."""
        options = ("--nthreads", "1", "--no-dashboard")
        nanny, log = self.start(*DASK, "worker", address, *options, **environment)
        found(log, r"(Registered to):")
        return nanny

    def end(self):
        """Kill whatever still runs."""
        for process in self.started:
            kill_tree(process.pid)
            process.wait()


def found(log, pattern, seconds=90.0):
    """What a pattern finds in a log, as soon as it is there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        match = re.search(pattern, log.read_text("utf-8"))
        if match:
            return match[1]
        time.sleep(0.02)
    raise TimeoutError(log.read_text("utf-8"))


def kill_tree(pid):
    """Kill a process and all below it as one, so that none notices the end of another."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in (parent, *parent.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)


@pytest.fixture
def cluster(folder, tmp_path):
    """No process yet."""
    place = tmp_path / "cluster"
    place.mkdir()
    made = Cluster(place, {**os.environ, "TMPDIR": str(place)})
    yield made
    made.end()


@pytest.fixture
def students(work):
    """A class, each wrong in their own way or right in their own words."""
    for number in range(STUDENTS):
        right = number % 4 == 0
        text = f"# {number}\n" + TIMES.format(1 if right else f"{2 + number / 1000:.3f}")
        work(f"student-{number:02}", scores=text, mixture="right")
    return work("zoe-empty").parent


def start_grading(folder, students, out, *options):
    """Start `grader grade` in a process of its own."""
    command = (sys.executable, "-c", "from grader.cli import main; main()", "grade", students)
    arguments = (*command, "--out", out, "--seed", "5", *options)
    return subprocess.Popen(
        [str(argument) for argument in arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_as_one_process_grades(folder, students, out):
    """Whether a run has the results of one without a cluster."""
    local = out.parent / "local"
    run = start_grading(folder, students, local, "--jobs", "1", "--quiet")
    assert (*run.communicate(timeout=300), run.returncode) == ("", "", 0)
    return written(out) == written(local)


def written(out):
    """What a run wrote, without times, and without its store."""
    times = re.compile(r'"duration_s": [^,}]+|"written_at": "[^"]+"')
    return {
        path.relative_to(out).as_posix(): times.sub("", path.read_text("utf-8"))
        for path in out.rglob("*")
        if path.is_file() and not path.name.startswith(STORE)
    }


def failures(out):
    """Why the grader itself failed, on whomever."""
    texts = [path.read_text("utf-8") for path in (out / "results").glob("*.json")]
    return sorted({found for text in texts for found in re.findall(r"itself failed[^\"]*", text)})


@pytest.mark.long
@pytest.mark.proof
def test_a_worker_is_killed_midway_and_the_class_is_graded(cluster, folder, students, tmp_path):
    """Its students are given to the other one; the results are those of a run without a cluster."""
    address = cluster.scheduler()
    doomed, _ = cluster.worker(address), cluster.worker(address)
    run = start_grading(folder, students, tmp_path / "out", "--scheduler", address)
    store, until = tmp_path / "out" / STORE, time.monotonic() + 120
    empty = 0  # the size of a store without outcomes
    while run.poll() is None and time.monotonic() < until:
        size = store.stat().st_size if store.is_file() else 0
        empty = empty or size
        if size > empty:
            break
        time.sleep(0.005)
    assert run.poll() is None
    kill_tree(doomed.pid)
    out, err = run.communicate(timeout=300)
    assert (run.returncode, err) == (0, ""), (out, failures(tmp_path / "out"))
    assert is_as_one_process_grades(folder, students, tmp_path / "out")


@pytest.mark.proof
def test_a_worker_with_another_course_is_refused(cluster, folder, students, tmp_path):
    """By a sentence; nobody is graded by other checks than the run's."""
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    with (other / "tests/checks/01_scores/test_hidden.py").open("a") as file:
        file.write("CHANGED = 1\n")
    address = cluster.scheduler()
    cluster.worker(address, GRADER_COURSE=str(other))
    run = start_grading(folder, students, tmp_path / "out", "--scheduler", address)
    _, err = run.communicate(timeout=120)
    said = (
        f"  {other}: this is not the course that the run began with; every machine needs the same "
        "course, and nobody may change it while a class is graded\n"
    )
    assert (run.returncode, err) == (2, f"The course has a problem:\n{said}")


@pytest.mark.proof
def test_an_address_without_a_scheduler_is_refused(folder, students, tmp_path, monkeypatch):
    """With the command that starts one."""
    monkeypatch.setattr(clusters, "START_SECONDS", 1)
    said = (
        r"^There is no scheduler at tcp://127\.0\.0\.1:9 \(.*Start one with `dask scheduler` and "
    )
    with pytest.raises(UsageError, match=f"(?s){said}give the address it prints\\.$"):
        list(clusters.grade_on_cluster(None, [1], "tcp://127.0.0.1:9", 1, lambda s: s))


def test_a_warning_of_dask_is_not_shown_and_an_error_is(monkeypatch):
    """A lost worker's student is given to another one, which is nothing to warn of."""
    heard = []
    logger = logging.getLogger("distributed.client")
    logger.addFilter(lambda record: heard.append(record.getMessage()))  # and no further

    def tell():
        logger.warning("rescheduling")
        logger.error("lost")
        return {}

    client = SimpleNamespace(ncores=tell)
    dask = SimpleNamespace(Client=lambda *_, **__: nullcontext(client), as_completed=list)
    monkeypatch.setattr(clusters, "distributed", dask)
    try:
        assert list(clusters.grade_on_cluster(None, [], "tcp://127.0.0.1:9", 1, str)) == []
        logger.warning("after")
    finally:
        logger.filters.pop()
    assert heard == ["lost", "after"]


@pytest.mark.proof
def test_a_cluster_on_this_machine_grades_as_one_process_does(folder, students, tmp_path):
    """`--scheduler local` makes one and ends it, without a word of its own."""
    for number in range(8, STUDENTS):
        (students / f"student-{number:02}" / "scores.py").unlink()
    out, options = tmp_path / "out", ("--scheduler", "local", "--jobs", "2", "--quiet")
    run = start_grading(folder, students, out, *options)
    assert (*run.communicate(timeout=300), run.returncode) == ("", "", 0), failures(out)
    assert is_as_one_process_grades(folder, students, tmp_path / "out")
