"""Tests of runs that are cut short: nothing is lost, nobody is graded twice, nothing is left over."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.classes.run import ClassRun, grade_here
from grader.classes.store import STORE, Store
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.intake.folders import read_class

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("each alone"),
    pytest.mark.only_on("linux", reason="processes are looked up in /proc"),
]

TIMES = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5 * {}\n"
ENDS = "def scores(queries, keys):\n    import os\n    os._exit(3)\n"
FEW = (9, 3)
MANY = (40, 12)
"""How many are wrong and how many right; two more end their process, or handed in nothing."""

JOBS = 2
PATIENCE = 60.0
"""Seconds; a busy machine takes long to import torch, which has to end before a parent is missed."""


def wait_for(condition, seconds=PATIENCE):
    """Ask until the answer is yes, or the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.005)
    return condition()


@dataclass
class Class:
    """A class, graded by real processes that can be killed."""

    course: Path
    students: Path
    temporary: Path
    log: Path
    out: Path
    wrong: int
    started: list = field(default_factory=list)

    def start(self, *options):
        """Start `grader grade`."""
        command = [sys.executable, "-c", "from grader.cli import main; main()", "grade"]
        arguments = [self.students, "--out", self.out, "--seed", "11", "--jobs", JOBS]
        process = subprocess.Popen(
            [str(part) for part in (*command, *arguments, *options)],
            cwd=self.course,
            env={**os.environ, "TMPDIR": str(self.temporary), "GRADED": str(self.log)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def processes(self):
        """Every living process of a run: all of them were given the temporary folder."""
        mark = f"TMPDIR={self.temporary}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found

    def leftovers(self):
        """Processes and temporary files of runs that have ended, once they had time to end."""
        wait_for(lambda: not self.processes())
        return self.processes(), sorted(path.name for path in self.temporary.iterdir())

    def known(self):
        """The keys of the outcomes that a run has put into the store, which is its own while it runs."""
        copy = self.log.with_name("copy")
        copy.mkdir(exist_ok=True)
        for name in (STORE, f"{STORE}-journal"):
            (copy / name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(self.out / name, copy / name)
        try:
            with Store.to_read(copy) as store:
                return store.keys()
        except UsageError:  # it was copied in the middle of a write
            return set()

    def written_of(self):
        """Whose records are there."""
        return {path.stem for path in (self.out / "results").glob("*.json")}


@pytest.fixture(params=[FEW])
def runs(folder, work, edit, tmp_path, request):
    """The class: wrong each in its own way, right in different words, and what ends a process."""
    wrong, right = request.param
    old = 'expected = reference.call("scores", queries, keys).value\n        judge(student.call("scores", queries, keys).value, expected, axes=AXES)'
    new = """expected = reference.call("scores", queries, keys).value
        value = student.call("scores", queries, keys).value
        import os
        with open(os.environ["GRADED"], "a") as file:
            file.write(f"{float(value[0, 0] / expected[0, 0]):.3f}\\n")
        judge(value, expected, axes=AXES)"""
    edit("tests/checks/01_scores/test_visible.py", old, new)
    for number in range(wrong):
        work(f"wrong-{number:02}", scores=TIMES.format(factor(number)), mixture="right")
    for number in range(right):
        work(f"right-{number:02}", scores=f"# {number}\n{TIMES.format(1)}", mixture="right")
    work("ends", scores=ENDS)
    work("empty")
    for name in ("temporary", "log"):
        (tmp_path / name).mkdir()
    log = tmp_path / "log" / "graded"
    places = tmp_path / "class", tmp_path / "temporary", log, tmp_path / "out"
    made = Class(folder, *places, wrong)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


def factor(number):
    """By what a student's scores are wrong."""
    return f"{2 + number / 1000:.3f}"


def written(out):
    """What a run wrote, without how long it took, and its store."""
    return {
        path.relative_to(out).as_posix(): [
            line
            for line in path.read_text("utf-8").splitlines()
            if '"duration_s"' not in line and '"written_at"' not in line
        ]
        for path in out.rglob("*")
        if path.is_file() and not path.name.startswith(STORE)
    }


def graded_once(runs):
    """How often each of the wrong ones was graded."""
    times = Counter(runs.log.read_text().split())
    return {factor(number): times[factor(number)] for number in range(runs.wrong)}


def kill_at_work(runs, more, seconds):
    """Start a run and kill it soon after so many more outcomes are in the store."""
    before = len(runs.known())
    process = runs.start()
    wait_for(lambda: len(runs.known()) >= before + more or process.poll() is not None)
    kill_after(process, seconds)


def kill_after(process, seconds):
    """Kill a run after some time, unless it is over before."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    process.communicate()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("runs", "kills"),
    [
        pytest.param(FEW, ["at work"], id="once"),
        pytest.param(MANY, ["early"] + ["at work"] * 5, id="often", marks=pytest.mark.long),
    ],
    indirect=["runs"],
)
def test_a_killed_run_is_completed_as_an_undisturbed_one(
    runs, kills, tmp_path, monkeypatch, record_property
):
    """Byte for byte what one process writes that nobody kills.

    What was done stays done, and no more than two students' work is lost at each kill.
    """
    monkeypatch.setenv("GRADED", str(runs.log))
    students = read_class(runs.students)
    order = ClassRun(load_course(runs.course), students, tmp_path / "undisturbed", seed="11")
    order.carry_out(grade_here, Mock())
    assert set(graded_once(runs).values()) == {1}
    runs.log.unlink()
    seed = random.randrange(1000)
    record_property("seed of the moments", seed)
    moments = random.Random(seed)
    for kill in moments.sample(kills, len(kills)):
        before = runs.known()
        if kill == "at work":
            kill_at_work(runs, moments.randint(1, 7), moments.uniform(0, 0.03))
        else:
            kill_after(runs.start(), moments.uniform(0, 4))
        assert runs.leftovers() == ([], [])
        done = runs.known()
        assert before <= done
    last = runs.start()
    assert (last.communicate()[1], last.returncode) == ("", 0)
    assert done <= runs.known()
    assert written(runs.out) == written(tmp_path / "undisturbed")
    assert runs.written_of() == {path.name for path in runs.students.iterdir()}
    assert runs.wrong <= sum(graded_once(runs).values()) <= runs.wrong + JOBS * len(kills)
    assert runs.leftovers() == ([], [])


@pytest.mark.proof
@pytest.mark.parametrize(("jobs", "done"), [(JOBS, 0), (JOBS, 3), (1, 3)])
def test_ctrl_c_ends_a_run_with_what_is_done(runs, grader, monkeypatch, jobs, done):
    """Within seconds, with 130 and a sentence; the same command completes it."""
    process = runs.start("--jobs", jobs)
    wait_for(lambda: len(runs.known()) >= done and len(runs.processes()) >= jobs)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert " ".join(out.split()).endswith(
        f"Interrupted. Who is graded is in {runs.out}; the same command goes on from there."
    )
    assert runs.leftovers() == ([], [])
    table = runs.out / "scores.csv"
    lines = table.read_text("utf-8").splitlines()[1:] if table.is_file() else []
    assert [line.split(",")[0] for line in lines] == sorted(runs.written_of())
    assert len(lines) >= done
    monkeypatch.setenv("GRADED", str(runs.log))
    options = ("--out", runs.out, "--seed", "11", "--jobs", "1", "--quiet")
    completed = grader("grade", runs.students, *options)
    assert (completed.out, completed.err, completed.code) == ("", "", 0)
    assert runs.written_of() == {path.name for path in runs.students.iterdir()}
    assert runs.leftovers() == ([], [])
