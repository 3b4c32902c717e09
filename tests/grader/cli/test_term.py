"""A class through a term: decisions, and what a change does to whom."""

import csv
import gzip
import json
import re
import shutil

import pytest

from grader.core.entry_points import entries
from grader.reports.base import OF_GRADE
from tests.grader.classes.conftest import files_in
from tests.grader.cli.conftest import scores

pytestmark = pytest.mark.slow

CHECK = "01_scores/scores::hidden::test_other_queries_and_keys"


def table(out):
    """Each student's row of the scores."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def names_in(folder, *names):
    """Those of the names that stand in any file of a folder, in any letters, or in its path."""
    written = []
    for path in folder.rglob("*"):
        written.append(path.relative_to(folder).as_posix())
        data = path.read_bytes() if path.is_file() else b""
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        written.append(data.decode("utf-8", "replace"))
    found = "\n".join(written)
    return [name for name in names if re.search(rf"\b{name}\b", found, re.IGNORECASE)]


def test_decisions_are_applied_and_compared(grade, grader, students, folder, out, tmp_path):
    """Beside the course or named; a mistake is told and changes nothing."""
    before, page = tmp_path / "before", tmp_path / "page.html"
    grade()
    shutil.copytree(out, before)
    (folder / "decisions.toml").write_text(f'[[full_marks]]\ncheck = "{CHECK}"\n', "utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        '[[overrides]]\nstudent = "cem"\nexercise = "weights"\npoints = 1\nreason = "Shown."',
        "utf-8",
    )
    assert "1 student has a result with decisions: the column `decided`" in grade().out
    bo = table(out)["bo"]
    assert (bo["score"], bo["automatic"], bo["decided"]) == ("1.1", "0.8", "check 01_scores/scores")
    ran = grader("compare", before, out)
    assert ran.lines[0].startswith("3 students are in both: 1 gain, 0 lose; 0 have other outcomes")
    assert "countsaspassedforeverybody" in "".join(ran.out.replace("│", "").split())
    grader("publish", out)
    said = " ".join(grade("--decisions", own).out.split())
    assert "2 students have other scores than before: decisions (2). `grader compare" in said
    assert scores(out) == {"ada": "6", "bo": "0.8", "cem": "1"}
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
@pytest.mark.long
def test_another_state_of_the_course_is_tried(grade, grader, folder, students, out, tmp_path):
    """What it changes in a run, or in another course; neither is touched."""
    grade("--assignment", "01")
    other = shutil.copytree(folder, tmp_path / "other")
    path = other / "tests" / "checks" / "01_scores" / "test_hidden.py"
    first = "        num_queries,"
    path.write_text(path.read_text("utf-8").replace(first, f"        assert False\n{first}"))
    kept = files_in(out)
    for old in (out, folder):
        ran = grader("compare", old, other, "--submissions", students)
        assert (ran.code, ran.err) == (0, "")
        assert ": 0 gain, 1 lose; 0 have other outcomes and" in ran.lines[0]
    assert files_in(out) == kept
    ran = grader("compare", out, other)
    assert ran.code == 2
    assert ran.err.endswith("is a course: --submissions says whose work is graded with it.\n")


def test_of_several_attempts_one_counts(grade, grader, work, out, tmp_path):
    """The last one, or another by --policy; each is graded once, and students see their road."""
    work("ada/2027-01-30T10-00-00", scores="right")
    work("ada/2027-01-31T10-00-00", scores="unscaled")
    students = work("bo", scores="right").parent
    ran = grade()
    assert "3 of 3 attempts" in ran.out
    assert scores(out) == {"ada": "0.8", "bo": "2"}
    ran = grade("--policy", "best", "--report", "html")
    assert "attempts, " not in ran.out
    assert scores(out)["ada"] == "2"
    told = grader("explain", "ada", "scores", "--run", out, "--submissions", students, "--again")
    assert "attempt 1 of 2 counts, of 2027-01-30T10:00:00+00:00" in told.out
    assert "not what was graded" not in told.out
    assert (told.code, "the same seed: the same result." in told.out) == (0, True)
    page = (out / "reports/html/students/ada.html").read_text("utf-8")
    assert "2 → 0.8" in page
    ran = grade("--policy", "best", "--gradebook", tmp_path / "gradebook.db")
    assert (ran.code, "needs --policy last" in ran.err) == (2, True)
    assert "no cloned repositories" in grade("--history").err
    shutil.rmtree(students / "ada")
    assert "no student has more than one attempt" in grade("--policy", "best").out


def test_a_list_of_times_says_who_is_late(grade, students, edit, out, tmp_path):
    """And `scores.csv` says by what, and what that took off."""
    first = '[[assignments]]\nid = "01_scores"\n'
    late = f"[late]\npercent_per_day = 10\n{first}due = 2027-02-01T00:00:00Z\n"
    edit("course.toml", first, late)
    times = tmp_path / "times.csv"
    times.write_text("student,submitted_at\nada,2027-02-01T10:00:00Z\nzoe,2027-02-01T10:00:00Z\n")
    ran = grade("--times", times)
    assert "The list of times has 1 who are nobody here, or several: zoe." in ran.out
    ada, bo = table(out)["ada"], table(out)["bo"]
    assert (ada["days_late"], ada["01_scores"], bo["days_late"]) == ("1", "1.8", "0")
    assert float(ada["score"]) + float(ada["off"]) == 6
    assert "01_scores 2027-02-01T10:00:00+00:00 by your instructor's list" in ada["handed_in"]


def test_an_anonymous_run_has_numbers_for_names(grade, grader, folder, students, out, tmp_path):
    """In everything that is written; a key file says who is who, and is read again."""
    keys, roster, named = tmp_path / "keys.csv", tmp_path / "roster.csv", tmp_path / "named"
    roster.write_text(
        "student,name,login,email,section,tutor\n"
        "ada,Lovelace,ada1815,ada@school.example,B,Tamsin\nbo,Berg,berg07,,A,\n"
    )
    (folder / "decisions.toml").write_text(
        '[[overrides]]\nstudent = "bo"\nexercise = "scores"\npoints = 2\nreason = "Shown."\n'
        '[[groups]]\nstudents = ["ada", "cem"]\nassignment = "01"\n',
        "utf-8",
    )
    attempt = students / "bo" / "2027-01-30T10-00-00"
    attempt.mkdir()
    (students / "bo" / "scores.py").rename(attempt / "scores.py")
    reports = [part for name in entries(OF_GRADE) for part in ("--report", name)]
    assert grade("--roster", roster, "--anonymous", keys, *reports).code == 0
    assert grader("publish", out).code == 0
    ran = grade()
    assert (ran.code, "holds a run without names. Give its key file" in ran.err) == (2, True)
    ran = grader("similar", out, "--submissions", students)
    assert (ran.code, "has a result in" in ran.err) == (2, True)
    with keys.open(encoding="utf-8", newline="") as file:
        numbers = {row["student"]: row["number"] for row in csv.DictReader(file)}
    assert {*numbers} == {"ada", "bo", "cem", "tutor Tamsin"}
    items, page = out / "moved.csv", out / "moved.html"
    assert grader("compare", out, out, "--items", items, "--html", page).code == 0
    assert names_in(out, "ada", "Lovelace", "ada1815", "school.example", "Berg", "Tamsin") == []
    assert items.read_text("utf-8").count("\n") > 6
    rows = table(out)
    assert rows[numbers["bo"]]["decided"] == "override 01_scores/scores"
    assert [rows[numbers[name]]["section"] for name in ("ada", "bo", "cem")] == ["B", "A", ""]
    assert rows[numbers["ada"]]["tutor"] == numbers["tutor Tamsin"]
    by = f"Handed in by {numbers['ada']} for your group."
    assert by in (out / "feedback" / f"{numbers['cem']}.json").read_text("utf-8")
    before = keys.read_bytes()
    shutil.rmtree(students / "cem")
    assert grade("--anonymous", keys, "--roster", roster).code == 0
    assert keys.read_bytes() == before
    assert {*scores(out)} == {numbers["ada"], numbers["bo"]}
    assert "keep it outside" in grade("--anonymous", out / "keys.csv").err
    (folder / "decisions.toml").unlink()  # without the key file, nobody here is cem
    assert grade(out=named).code == 0
    assert "like ada. Give another --out." in grade("--anonymous", keys, out=named).err
    ran = grade("--anonymous", keys, "--never-lower", named)
    assert "like ada. Give another --never-lower." in ran.err
    keys.write_text("who\n")
    assert "is no key file" in grade("--anonymous", keys).err
