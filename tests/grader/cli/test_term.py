"""A class through a term: decisions, and what a change does to whom."""

import csv
import json
import shutil

import pytest

from tests.grader.grading.conftest import files_in

pytestmark = pytest.mark.slow

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"
CHECK = "01_scores/scores::hidden::test_other_queries_and_keys"


@pytest.fixture
def students(work):
    """A class of three: all right, one mistake, an empty folder."""
    work("ada", scores="right", mixture="right")
    work("bo", scores=NOT_SCALED)
    return work("cem").parent


@pytest.fixture
def grade(grader, students, tmp_path):
    """Grades the class without a seal and in this process."""

    def run(*options, out=tmp_path / "out"):
        here = ("--isolation", "process", "--jobs", 1)
        return grader("grade", students, "--out", out, *here, *options)

    return run


def scores(out):
    """The score of each student, and what was decided, where that is known."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["student"]: (row["score"], row["automatic"], row["decided"])
            if "decided" in row
            else row["score"]
            for row in csv.DictReader(file)
        }


def test_decisions_are_applied_and_compared(grade, grader, folder, tmp_path):
    """Beside the course or named; a mistake is told and changes nothing."""
    out, before = tmp_path / "out", tmp_path / "before"
    grade()
    grade(out=before)
    (folder / "decisions.toml").write_text(f'[[full_marks]]\ncheck = "{CHECK}"\n', "utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        '[[overrides]]\nstudent = "cem"\nexercise = "weights"\npoints = 1\nreason = "Shown."',
        "utf-8",
    )
    ran = grade()
    assert "1 student has a result with decisions: the column `decided`" in ran.out
    assert "1 student is scored from known outcomes: no code is run." in ran.out
    assert scores(out)["bo"] == ("1.1", "0.8", "check 01_scores/scores")
    ran = grader("compare", before, out)
    assert ran.lines[0].startswith("3 students are in both: 1 gain, 0 lose; 0 have other outcomes")
    assert "countsaspassedforeverybody" in "".join(ran.out.replace("│", "").split())
    grader("publish", out)
    ran = grade("--decisions", own)
    assert "2 students have other scores than were published: `grader compare" in ran.out
    assert scores(out) == {
        "ada": ("6", "", ""),
        "bo": ("0.8", "", ""),
        "cem": ("1", "", "override 02_mixture/weights"),
    }
    page = tmp_path / "page.html"
    ran = grader("compare", before, out, "--format", "json", "--html", page)
    (change,) = json.loads(ran.out)["changes"]
    assert (change["student"], change["was"], change["after"]) == ("cem", "nothing handed in", 1)
    assert "nothing handed in" in page.read_text("utf-8")
    kept = files_in(out)
    own.write_text(own.read_text("utf-8").replace("cem", "cen"), "utf-8")
    ran = grade("--decisions", own)
    assert ran.code == 2
    assert "overrides[1].student: nobody in the class is called 'cen'; did you mean" in ran.err
    assert files_in(out) == kept


@pytest.mark.proof
def test_another_state_of_the_course_is_tried(grade, grader, folder, students, tmp_path):
    """What it changes in a run, or in another course; neither is touched."""
    grade()
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    path = other / "tests" / "checks" / "01_scores" / "test_hidden.py"
    text = path.read_text("utf-8")
    path.write_text(
        text.replace("        num_queries,", "        assert False\n        num_queries,")
    )
    kept = files_in(tmp_path / "out")
    for old in (tmp_path / "out", folder):
        ran = grader("compare", old, other, "--submissions", students)
        assert (ran.code, ran.err) == (0, "")
        assert ": 0 gain, 1 lose; " in ran.lines[0]
    assert files_in(tmp_path / "out") == kept
    ran = grader("compare", tmp_path / "out", other)
    assert ran.code == 2
    assert ran.err.endswith("is a course: --submissions says whose work is graded with it.\n")
