"""Tests of worker processes: lost ones, renewed ones, and who was in their hands."""

import json
from collections import Counter

import pytest

from grader.classes import process_pool

pytestmark = pytest.mark.proof

TIMES = "def scores(queries, keys):\n    return queries @ keys.T / keys.shape[-1] ** 0.5 * {}\n"
OLD = 'judge(student.call("scores", queries, keys).value, expected, axes=AXES)'


@pytest.fixture
def log(edit, tmp_path):
    """Has a check write down which process graded whom, by the factor they are wrong by."""
    log = tmp_path / "log"
    new = f"""value = student.call("scores", queries, keys).value
        import os, signal
        times = round(float(value[0, 0] / expected[0, 0]))
        with open({str(log)!r}, "a") as file:
            file.write(f"{{times}} {{os.getpid()}}\\n")
        once = times == 20 and open({str(log)!r}).read().count("20 ") == 1
        if times == 10 or once:
            os.kill(os.getpid(), signal.SIGKILL)
        judge(value, expected, axes=AXES)"""
    edit("tests/checks/01_scores/test_visible.py", OLD, new)
    return log


@pytest.fixture(params=["forked", "spawned"], autouse=True)
def way(request, monkeypatch):
    """Each way in which worker processes begin."""
    monkeypatch.setattr(process_pool, "CAN_FORK", request.param == "forked")


def graded(log):
    """Who was graded by which processes."""
    return [tuple(line.split()) for line in log.read_text().splitlines()]


def test_a_worker_that_dies_is_replaced_and_costs_at_most_one_student(grader, work, log, tmp_path):
    """Who lost it once is graded by a new one; who lost two is undecided, with the reason."""
    for factor in (10, 20, 30, 40):
        work(f"times-{factor}", scores=TIMES.format(factor))
    out = tmp_path / "out"
    options = ("--isolation", "process", "--jobs", 2, "--quiet")
    ran = grader("grade", tmp_path / "class", "--out", out, *options)
    assert (ran.code, ran.err) == (3, "UNDECIDED, the grader failed: times-10\n")
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["scores"] == {f"times-{factor}": 0 for factor in (20, 30, 40)}
    record = json.loads((out / "results" / "times-10.json").read_text("utf-8"))
    assert {note for a in record["assignments"] for note in a["notes"]} == {
        "The grader itself failed: its worker process died, and so did a second one"
    }
    counts = Counter(factor for factor, _ in graded(log))
    expected = {"10": 2, "20": 2, "30": 1, "40": 1}
    assert {factor: counts[factor] for factor in expected} == expected
    # Two, and one for each of three deaths, if it left something to do.
    assert len({process for _, process in graded(log)}) in (4, 5)


def test_a_worker_is_renewed_after_many_students(grader, work, log, tmp_path, monkeypatch):
    """Between two students, who notice nothing."""
    monkeypatch.setattr(process_pool, "MOST_STUDENTS", 2)
    for factor in (30, 40, 50):
        work(f"times-{factor}", scores=TIMES.format(factor))
    options = ("--isolation", "process", "--jobs", 1)
    monkeypatch.setattr(
        "grader.cli.grade.grade_here",
        lambda order, students, says: process_pool.grade_locally(order, students, 1, says),
    )
    ran = grader("grade", tmp_path / "class", "--out", tmp_path / "out", *options)
    assert (ran.code, ran.err) == (0, "")
    processes = [process for factor, process in graded(log) if factor in ("30", "40", "50")]
    assert processes == [processes[0], processes[0], processes[2]]
    assert processes[2] != processes[0]
