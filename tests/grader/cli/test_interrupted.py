"""Tests of runs that are cut short: nothing is lost, nobody is graded twice, nothing is left over."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]

TIMES = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5 * {}\n"
ENDS = "def scores(queries, keys):\n    import os\n    os._exit(3)\n"
WRONG, RIGHT = 60, 20
JOBS = 2
KILLS_AT_WORK = 6
KILLS_EARLY = 2
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
    started: list = field(default_factory=list)

    def start(self, out=None, *options):
        """Start `grader grade`."""
        command = [sys.executable, "-c", "from grader.cli import main; main()", "grade"]
        arguments = [self.students, "--out", out or self.out, "--seed", "11", "--jobs", JOBS]
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

    def entries(self):
        """Who is done, in the order of the journal; half a line does not count."""
        journal = self.out / "run.jsonl"
        text = journal.read_text("utf-8") if journal.is_file() else ""
        names = []
        for line in text.splitlines():
            with suppress(ValueError, KeyError):
                names.append(json.loads(line)["student"])
        return names


@pytest.fixture
def runs(folder, work, edit, tmp_path):
    """The class: wrong each in its own way, right in different words, and what ends a process."""
    old = 'expected = reference.call("scores", queries, keys).value\n        judge(student.call("scores", queries, keys).value, expected, axes=AXES)'
    new = """expected = reference.call("scores", queries, keys).value
        value = student.call("scores", queries, keys).value
        import os
        with open(os.environ["GRADED"], "a") as file:
            file.write(f"{float(value[0, 0] / expected[0, 0]):.3f}\\n")
        judge(value, expected, axes=AXES)"""
    edit("tests/checks/01_scores/test_visible.py", old, new)
    for number in range(WRONG):
        work(f"wrong-{number:02}", scores=TIMES.format(factor(number)), mixture="right")
    for number in range(RIGHT):
        work(f"right-{number:02}", scores=f"# {number}\n{TIMES.format(1)}", mixture="right")
    work("ends", scores=ENDS)
    work("empty")
    for name in ("temporary", "log"):
        (tmp_path / name).mkdir()
    made = Class(
        folder,
        tmp_path / "class",
        tmp_path / "temporary",
        tmp_path / "log" / "graded",
        tmp_path / "out",
    )
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


def factor(number):
    """By what a student's scores are wrong."""
    return f"{2 + number / 1000:.3f}"


def written(out):
    """What a run wrote, without how long it took and without its journal."""
    return {
        path.relative_to(out).as_posix(): [
            line for line in path.read_text("utf-8").splitlines() if '"duration_s"' not in line
        ]
        for path in out.rglob("*")
        if path.is_file() and path.name != "run.jsonl"
    }


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(runs, tmp_path, record_property):
    """Byte for byte, nobody done twice, no more than two students' work lost at each kill."""
    assert runs.start(tmp_path / "undisturbed").wait() == 0
    once = Counter(runs.log.read_text().split())
    assert {factor(n): once[factor(n)] for n in range(WRONG)} == {
        factor(n): 1 for n in range(WRONG)
    }
    runs.log.unlink()
    seed = random.randrange(1000)
    record_property("seed of the moments", seed)
    moments = random.Random(seed)
    kills = ["early"] * KILLS_EARLY + ["at work"] * KILLS_AT_WORK
    moments.shuffle(kills)
    for kill in kills:
        before = len(runs.entries())
        process = runs.start()
        if kill == "at work":
            more = before + moments.randint(1, 7)
            wait_for(
                lambda more=more, run=process: len(runs.entries()) >= more or run.poll() is not None
            )
        with suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 4 if kill == "early" else 0.03))
        process.kill()
        process.communicate()
        assert runs.leftovers() == ([], [])
        assert set(runs.entries()) <= {path.stem for path in (runs.out / "results").glob("*.json")}
    last = runs.start()
    assert (last.communicate()[1], last.returncode) == ("", 0)
    assert written(runs.out) == written(tmp_path / "undisturbed")
    assert Counter(runs.entries()) == Counter(path.name for path in runs.students.iterdir())
    again = Counter(runs.log.read_text().split())
    graded = sum(again[factor(number)] for number in range(WRONG))
    assert WRONG <= graded <= WRONG + JOBS * len(kills)
    assert runs.leftovers() == ([], [])


@pytest.mark.parametrize("moment", ["at the start", "at work"])
def test_ctrl_c_ends_a_run_with_what_is_done(runs, moment):
    """Within seconds, with 130 and a sentence; the same command completes it."""
    process = runs.start()
    if moment == "at work":
        wait_for(lambda: len(runs.entries()) >= 3)
    else:
        wait_for(lambda: len(runs.processes()) >= JOBS)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert " ".join(out.split()).endswith(
        f"Interrupted. Who is graded is in {runs.out}; the same command goes on from there."
    )
    assert runs.leftovers() == ([], [])
    done = runs.entries()
    table = runs.out / "scores.csv"
    lines = table.read_text("utf-8").splitlines()[1:] if table.is_file() else []
    assert [line.split(",")[0] for line in lines] == sorted(done)
    process = runs.start(None, "--quiet")
    assert (*process.communicate(), process.returncode) == ("", "", 0)
    assert Counter(runs.entries()) == Counter(path.name for path in runs.students.iterdir())
    assert runs.leftovers() == ([], [])


def test_ctrl_c_ends_a_run_in_one_process_as_well(runs):
    """A run with one job has no worker process."""
    process = runs.start(None, "--jobs", "1")
    wait_for(lambda: len(runs.entries()) >= 3)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=20)[1] == ""
    assert process.returncode == 130
    assert runs.leftovers() == ([], [])
