"""`grader new`, `grader preview` and `grader validate --watch`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cli import validate
from grader.course.course import load_course


@pytest.fixture
def fresh(grader, tmp_path, monkeypatch) -> Path:
    """A new course, which is the current folder."""
    folder = tmp_path / "my_course"
    ran = grader("new", "course", folder)
    assert (ran.code, ran.err) == (0, "")
    assert f"{os.path.relpath(folder)}/course.toml" in ran.out
    assert "Next: cd " in ran.lines[-1]
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_new_course_passes_check_release_and_grade(grader, fresh, tmp_path) -> None:
    """Its title is made from its folder; nothing of the templates is in what students receive."""
    assert load_course(fresh).title == "My course"
    assert grader("check").code == 1
    ran = grader("check", "--submission", "solutions")
    assert (ran.code, ran.lines[-1]) == (0, "5 of 5 points, 7 of 7 checks passed.")
    assert grader("release", tmp_path / "students", "--to", "students").code == 0
    assert not list((tmp_path / "students").rglob("*.template"))
    options = ("--out", tmp_path / "graded", "--jobs", 1)
    assert grader("grade", "tests/example_class", *options).code == 0
    rows = (tmp_path / "graded" / "scores.csv").read_text("utf-8").splitlines()
    scores = [row.split(",")[:3] for row in rows[1:]]
    assert scores == [["half_done", "2", "5"], ["one_mistake", "4.4", "5"]]


@pytest.mark.proof
@pytest.mark.parametrize("audience", ["nbgrader", "github", "gradescope"])
def test_a_new_course_is_released_to_every_audience(grader, fresh, tmp_path, audience) -> None:
    """At once."""
    assert grader("release", tmp_path / "released", "--to", audience).code == 0


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_a_new_course_passes_its_own_make_test(fresh) -> None:
    """What its workflow runs; where the kit is installed already, nothing is downloaded."""
    (fresh / ".venv").mkdir()
    (fresh / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (fresh / ".venv" / ".ready").touch()
    done = subprocess.run(["make", "test"], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The course keeps its promises." in done.stdout
    assert "one_mistake" in done.stdout


def test_a_new_courses_workflow_runs_make_test(fresh) -> None:
    """With actions that are pinned by their commit, and allowed to read alone."""
    text = (fresh / ".github" / "workflows" / "test.yml").read_text("utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert len(uses) == 2
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", one) for one in uses)
    assert "- run: make test\n" in text
    assert "permissions:\n  contents: read\n" in text
    assert "PIP_EXTRA_INDEX_URL: ${{ vars.PIP_EXTRA_INDEX_URL }}\n" in text


def test_a_folder_that_is_not_empty_is_refused(grader, folder, tmp_path) -> None:
    """But for an empty repository's own folder."""
    ran = grader("new", "course", folder)
    assert (ran.code, ran.out) == (2, "")
    assert "is not an empty folder" in ran.err
    (tmp_path / "cloned" / ".git").mkdir(parents=True)
    assert grader("new", "course", tmp_path / "cloned").code == 0


def test_an_exercise_and_an_assignment_are_added(grader, folder) -> None:
    """What was written is listed, and what comes next."""
    ran = grader("new", "exercise", "01/sums", "--after", "scores", "--points", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "written: solutions/01_scores/scores.py" in ran.lines
    assert "written: assignments/01_scores/scores.ipynb" in ran.lines
    assert "`grader validate 01_scores/sums`" in ran.lines[-1]
    ran = grader("new", "assignment", "sorting", "--title", "Sorting", "--exercise", "Heap")
    assert (ran.code, ran.err) == (0, "")
    assert "`grader validate 03_sorting`" in ran.lines[-1]
    assert list(load_course(folder).exercises)[-1] == "03_sorting/Heap"
    assert grader("generate", "--check").code == 0


def test_a_manifest_alone_is_no_released_copy(grader, tmp_path, monkeypatch) -> None:
    """Whoever begins a course by hand is told what begins one."""
    (tmp_path / "begun").mkdir()
    shutil.copy("course.toml", tmp_path / "begun")
    monkeypatch.chdir(tmp_path / "begun")
    ran = grader("validate")
    assert (ran.code, ran.err) == (
        2,
        f"There is no folder solutions/ in {tmp_path / 'begun'}. `grader new course DIR` writes a "
        "small complete course.\n",
    )


# `grader preview`.


def test_a_preview_shows_what_students_see(grader) -> None:
    """Stub, notebook, and what is said of the stub, of the solution, of each known mistake."""
    ran = grader("preview", "01_scores/scores")
    assert (ran.code, ran.err) == (0, "")
    said = "What `check` says of the"
    parts = {
        "The stub": 'raise NotImplementedError("01_scores/scores: not attempted yet")',
        "The notebook": 'check_exercise("01_scores/scores")',
        f"{said} stub": "0 / 2  not attempted yet",
        f"{said} solution": "✓ scores",
        f"{said} known mistake scores-not-scaled (step)": "What happens to a score when keys get",
        f"{said} known mistake scores-keys-first (slip)": "assignments/01_scores/scores.py",
        f"{said} known mistake scores-without-root (slip)": "(scores-without-root)",
    }
    _, *shown = re.split(r"(?m)^(.*) ─+$", ran.out)
    assert shown[::2] == [*parts]
    assert all(part in text for part, text in zip(parts.values(), shown[1::2], strict=True))
    assert "BEGIN SOLUTION" not in ran.out


def test_a_preview_of_a_mistake_shows_that_alone(grader) -> None:
    """As students read it."""
    ran = grader("preview", "01", "--mistake", "scores-keys-first")
    assert ran.code == 0
    assert "scores-keys-first (slip)" in ran.out
    assert "scores-not-scaled" not in ran.out
    assert "The stub" not in ran.out
    ran = grader("preview", "01", "--mistake", "scores-key-first")
    assert ran.code == 2
    assert "did you mean 'scores-keys-first'?" in ran.err


def test_a_preview_of_an_assignment_is_its_whole_stub(grader, folder) -> None:
    """What it imports is there, also while its own exercises are open."""
    ran = grader("preview", "02")
    stub = (folder / "assignments" / "02_mixture" / "mixture.py").read_text("utf-8")
    assert stub.strip() in ran.out
    assert "0 of 4 points" in ran.out
    assert "4 of 4 points" in ran.out


# `grader validate --watch`.


def test_the_proof_is_repeated_until_it_is_ended(grader, folder, monkeypatch) -> None:
    """Each time in a process of its own, with the same targets and options."""
    ran_with = []

    def run(command, **options) -> None:
        ran_with.append((command[1:], options["cwd"]))
        if len(ran_with) == 2:
            raise KeyboardInterrupt
        (folder / "solutions" / "01_scores" / "hints.toml").write_text("# saved\n", "utf-8")

    monkeypatch.setattr(validate.subprocess, "run", run)
    ran = grader("validate", "01", "--watch", "--verbose")
    assert (ran.code, ran.err) == (0, "")
    assert ran_with == [(["-m", "grader.cli", "validate", "01", "--verbose"], folder)] * 2
    assert "Waiting for a save; Ctrl-C ends it." in ran.out
