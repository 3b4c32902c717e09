"""Tests of `grader check` in a process of its own, where student code runs in a fork of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.only_on("linux", reason="elsewhere it is a fresh interpreter"),
]

LOOKS_AROUND = """
import os
import sys


def scores(queries, keys):
    judging = ("run", "collect", "fixtures", "recordings", "answer_cache", "consequences")
    judging += ("diagnosis", "submission_grader", "known_mistakes")
    modules = [f"grader.judging.{name}" for name in judging]
    secret = [name for name in sys.modules if name.startswith("grader.testing.") or name in modules]
    tests = [name for name in sys.modules if name.startswith(("tests", "pytest", "_pytest"))]
    raise ValueError(f"{secret} {tests} {os.environ.get('SECRET')} {os.getcwd()}")
"""


@pytest.fixture
def check(folder, tmp_path):
    """Runs `grader check` as a command, with a temporary folder of its own."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def run(submission):
        done = subprocess.run(
            [Path(sys.executable).with_name("grader"), "check", "01", "--submission", submission],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary), "SECRET": "a password"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert list(temporary.iterdir()) == []
        return done

    return run


def test_student_code_finds_nothing_of_the_course_beside_it(check, work):
    """It was forked before checks, solutions and recordings were loaded; in an empty folder."""
    done = check(work(scores=LOOKS_AROUND))
    assert (done.returncode, done.stderr) == (1, "")
    said = " ".join(done.stdout.split())
    assert "ValueError: [] [] None " in said
    assert f"{Path.cwd()} " not in said


@pytest.mark.proof
def test_code_that_ends_its_process_costs_only_its_exercise(check, work):
    """A new process serves what comes after."""
    done = check(work(scores="def scores(queries, keys):\n    import os\n    os._exit(7)\n"))
    assert (done.returncode, done.stderr) == (1, "")
    assert "your code ended the Python process it ran in (exit status 7)" in done.stdout
