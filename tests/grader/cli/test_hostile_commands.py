"""Commands that read a class: no hand-in ends one with a traceback, or keeps the others from being read."""

import json
import os
import zipfile
from dataclasses import replace

import click
import pytest
from hostile_hand_ins import HAND_INS

pytestmark = pytest.mark.slow

WORDS = ("--id", "x-y", "--kind", "slip", "--symptom", "S.", "--question", "Q?")
COPIED = "# I add the two of them by hand, twice over\n# and look at what comes of it at night\n"
WHOLE = (
    "fay cannot be read (Permission denied): make it readable, with `chmod -R u+rX fay` for example, "
    "and run the same command again"
)
INNER = (
    "01_scores cannot be read on this machine: Permission denied. Make it readable, with `chmod -R u+rX "
    "01_scores` for example, and run the same command again."
)


@pytest.fixture
def handed_in(work, tmp_path, right):
    """A class of hostile hand-ins, and two who share their comments."""
    for name, fill in HAND_INS.items():
        fill(work(name))
    for student in ("ada", "bo"):
        work(student, scores=COPIED + right)
    return tmp_path / "class"


@pytest.fixture
def unreadable(work, monkeypatch):
    """A student with a folder that this machine cannot read, and one whose own it is."""
    inner, whole = work("eve") / "01_scores", work("fay")
    inner.mkdir()
    for name in ("listdir", "scandir"):
        real = getattr(os, name)

        def refuse(path=".", real=real):
            if str(path) in (str(inner), str(whole)):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, name, refuse)


def is_told(ran) -> bool:
    """Whether a command ended with a sentence, if it did not do what it was asked for."""
    said = f"{ran.out}{ran.err}"
    return ran.code in (0, 1, 2) and "Traceback" not in said and "itself failed" not in said


@pytest.mark.parametrize(
    "asked_for",
    [
        pytest.param([*HAND_INS][::6], id="some"),
        pytest.param([*HAND_INS], id="all", marks=pytest.mark.proof),
    ],
)
def test_whatever_is_handed_in_each_command_reads_it_or_says_why_not(
    grade, grader, handed_in, out, monkeypatch, asked_for
):
    """Grading, comparing students, explaining and learning, publishing and comparing runs."""
    ran = grade("--report", "html", "--report", "github")
    undecided = [line.partition(":")[0] for line in ran.lines if line.startswith("UNDECIDED")]
    assert (ran.code, undecided) == (3, ["UNDECIDED, zero bytes, 01_scores"])
    assert is_told(replace(ran, code=0))
    assert {path.stem for path in (out / "results").iterdir()} == {*HAND_INS, "ada", "bo"}
    monkeypatch.setattr(click, "confirm", lambda _question: False)
    for student in (*asked_for, "ada"):
        asked = (student, "scores", "--submissions", handed_in)
        assert is_told(grader("explain", *asked, "--run", out)), student
        assert is_told(grader("learn", *asked, *WORDS)), student
    page, exported = out / "similar.html", out / "exported"
    asked = ("similar", out, "--submissions", handed_in)
    assert is_told(grader(*asked, "--html", page, "--export", exported))
    found = json.loads(grader(*asked, "--format", "json").out)
    assert [pair["students"] for pair in found["pairs"]] == [["ada", "bo"]]
    assert found["not_compared"] == []
    assert grader("publish", out).code == 0
    assert grader("compare", out, out).code == 0


def test_who_cannot_be_read_is_left_out_with_the_reason(
    grade, grader, work, unreadable, tmp_path, out
):
    """Of a comparison of students; who is asked for alone is told the same."""
    for student in ("ada", "bo"):
        work(student, scores=f"{COPIED}def scores(q, k):\n    return q @ k.T\n")
    students = tmp_path / "class"
    assert grade().code == 3
    ran = grader("similar", out, "--submissions", students)
    said = (f"eve: {INNER}\n", f"fay: {WHOLE}\n")
    assert (ran.code, ran.err) == (0, "".join(f"Not compared: {line}" for line in said))
    assert "2 students; 1 pair shares rare things." in ran.out
    for student, line in zip(("eve", "fay"), said, strict=True):
        asked = (student, "scores", "--submissions", students)
        ran = grader("learn", *asked, *WORDS)
        assert (ran.code, ran.err.replace(".\n", "\n")) == (2, line.replace(".\n", "\n"))
        assert is_told(grader("explain", *asked, "--run", out))
    assert grader("publish", out).code == 0
    assert grader("compare", out, out).code == 0


def test_a_zip_of_which_one_students_files_cannot_be_read(
    grade, grader, tmp_path, out, monkeypatch
):
    """The same for a platform's download."""
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for number, student in enumerate(("ada", "bo", "eve")):
            file.writestr(f"{student}_{number}_{number}_scores.py", COPIED)
    real = os.mkdir

    def refuse(path, *options):
        if str(path).endswith("class/eve"):
            raise OSError(28, "No space left on device", str(path))
        return real(path, *options)

    monkeypatch.setattr(os, "mkdir", refuse)
    assert grade(submissions=archive).code == 3
    why = "eve cannot be read (No space left on device)"
    ran = grader("similar", out, "--submissions", archive)
    assert (ran.code, ran.err) == (0, f"Not compared: eve: {why}\n")
    ran = grader("learn", "eve", "scores", "--submissions", archive, *WORDS)
    assert (ran.code, ran.err) == (2, f"eve: {why}.\n")
