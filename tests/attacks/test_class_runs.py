"""Attacks in the middle of a class: who stands beside them is graded, and nothing is left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from grader.classes.run import ClassRun
from grader.classes.worker import Worker, grade_student
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.sessions.launchers import WarmParent

HANGS = "{}\n\ndef double(x):\n    import collections, itertools\n    collections.deque(itertools.repeat(0), maxlen=0)\n"

CLASS = {
    "alice": "",
    "bertha-exits": "import os\nos._exit(0)\n",
    "charlie": "",
    "dora-crashes": "import ctypes\nctypes.string_at(0)\n",
    "emil-garbles": "import os\nfor n in range(3, 64):\n    try:\n        os.write(n, b'\\xff' * 100)\n"
    "    except OSError:\n        pass\n",
    "frieda": "",
}

GRADE_ALONE = """
import sys
from pathlib import Path

sys.path.insert(0, {root!r})
from grader.intake.folders import Student
from grader.classes.worker import grade_student
from grader.course.course import load_course
from grader.judging.submission_grader import full_grader
from grader.sessions.launchers import Seal, WarmParent

course = load_course(Path({course!r}))
launcher = WarmParent(Seal(sealed=True), ("torch",))
bench = full_grader(course, "1")
print(launcher.process.pid, flush=True)
grade_student(bench, launcher, Student("mallory", Path({student!r})))
"""


@pytest.fixture
def seal(launcher):
    """The seal of each way of sealing."""
    return launcher.seal


@pytest.fixture
def own_parent(seal):
    """A warm parent of this test alone."""
    made = WarmParent(seal, ("torch",))
    yield made
    made.close()


@pytest.fixture
def hanging(grader, tmp_path):
    """A submission that hangs where nothing interrupts it."""
    file = tmp_path / "hanging" / "01_first" / "first.py"
    file.parent.mkdir(parents=True)
    file.write_text(HANGS.format(grader.pristine("")))
    return Student("mallory", file.parents[1])


class Silence:
    """Watches a run and says nothing."""

    def begin(self, what, total, done):
        """Nothing."""

    def planned(self, sentences):
        """Nothing."""

    def done(self, *, is_undecided):
        """Nothing."""


def run_class(course, students, seal, out):
    """Grade a class in one way of sealing."""

    def graded(order, todo):
        station = Worker(order, WarmParent(seal, ("torch",)))
        try:
            for student in todo:
                yield student, station.outcomes(student)
        finally:
            station.close()

    return ClassRun(course, students, out, seed="7").carry_out(graded, Silence()).rows


def children(pid):
    """The children of a process."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def busy(pid):
    """The children of a process that have computed for a while: those that hang in a loop."""
    return [child for child in children(pid) if _ticks(child) >= 15]


def _ticks(pid):
    """The clock ticks a process has computed; none for one that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def wait_for(condition, seconds=20.0):
    """Ask until the answer is yes, or the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.01)
    return condition()


def is_over(pid):
    """Whether a process has ended; nobody may have reaped it yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_a_class_with_attackers_in_it_is_graded_to_the_end(outside, grader, seal, tmp_path):
    """Everybody else gets what they earned, in the same run, and every report is well-formed."""
    for name, code in CLASS.items():
        file = tmp_path / "class" / name / "01_first" / "first.py"
        file.parent.mkdir(parents=True)
        file.write_text(f"{grader.pristine('')}\n{code}")
    students = [Student(name, tmp_path / "class" / name) for name in CLASS]
    course = load_course(outside.root / "course")
    run_class(course, students, seal, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["scores"] == {
        "alice": 8,
        "bertha-exits": 8,  # what stands before the end of a process counts
        "charlie": 8,
        "dora-crashes": 8,
        "emil-garbles": 0,
        "frieda": 8,
    }
    assert summary["undecided"] == []


def test_an_unforeseen_exception_costs_one_result_and_not_the_run(
    outside, grader, seal, tmp_path, monkeypatch
):
    """Whatever a submission makes the grader stumble over, the class goes on."""
    from grader.classes import worker

    graded = worker.outcomes

    def stumble(bench, submission, session, scope):
        if submission.student == "mallory":
            raise RuntimeError("Tensor on device cpu is not on the expected device meta!")
        return graded(bench, submission, session, scope)

    monkeypatch.setattr(worker, "outcomes", stumble)
    alice, mallory = outside.root / "class" / "alice", tmp_path / "mallory"
    shutil.copytree(alice, mallory)  # other files than hers: the same ones have the same outcomes
    with next(mallory.rglob("*.py")).open("a") as file:
        file.write("\n# mine\n")
    students = [Student("mallory", mallory), Student("alice", alice)]
    course = load_course(outside.root / "course")
    rows = run_class(course, students, seal, tmp_path / "out")
    assert [(row.student, row.score, row.undecided) for row in rows] == [
        ("alice", 8, False),
        ("mallory", None, True),
    ]


def test_nobody_outlives_the_parent_of_all_children(grader, hanging, own_parent):
    """When the warm parent is killed in the middle, the child it was serving is ended, too."""
    found = []

    def kill():
        found.extend(wait_for(lambda: busy(own_parent.process.pid)))
        os.kill(own_parent.process.pid, signal.SIGKILL)

    grader.honest()
    thread = threading.Thread(target=kill)
    thread.start()
    result = grade_student(grader.bench, own_parent, hanging)
    thread.join()
    over = [is_over(pid) for pid in found]
    for pid in found:
        if not is_over(pid):
            os.kill(int(pid), signal.SIGKILL)
    assert (len(found), over, result.student) == (1, [True], "mallory")


def test_nobody_outlives_the_grader(outside, grader, hanging, root):
    """When the grader itself is killed, a hanging child is ended with it."""
    course = str(outside.root / "course")
    code = GRADE_ALONE.format(root=str(root), course=course, student=str(hanging.path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        parent = int(run.stdout.readline())
        found = wait_for(lambda: busy(parent))
        run.kill()
    over = wait_for(lambda: all(is_over(pid) for pid in found), 5.0)
    for pid in found:
        if not is_over(pid):
            os.kill(int(pid), signal.SIGKILL)
    assert (len(found), over) == (1, True)
