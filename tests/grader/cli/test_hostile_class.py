"""What students can hand in, and name, concerns them alone: the others of the class have their marks."""

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.grader.cli.conftest import scores
from tests.grader.intake.test_hostile_repositories import Clone

pytestmark = pytest.mark.slow

LONG = "x" * 250
FORMULAS = ("=cmd|' ", "+1+1", "@SUM(1)", "\t=1+1", " =1+1", "-2+3", "＝1+1", "\u200b=1+1")
ESCAPES = ("a\x1b[31mred", "b\x07bell")
UNWRITTEN = "def scores(queries, keys):\n    raise NotImplementedError\n"

NO_ACCESS = (
    "scores.py cannot be read (Permission denied): make it readable, with `chmod -R u+rX scores.py` for "
    "example, and run the same command again"
)


def notes(out: Path, student: str) -> list[str]:
    """What is said of a student's first assignment."""
    record = json.loads((out / "results" / f"{student}.json").read_text("utf-8"))
    return record["assignments"][0]["notes"]


# Names of folders.


def test_a_long_name_is_graded_like_any_other(grade, grader, work, out):
    """Its files are called by its beginning and a hash; records, pages and commands know it whole."""
    work("ada", scores="right", mixture="right")
    for name in (LONG, LONG[:-1] + "y", "é" * 120):
        work(name, scores="right")
    ran = grade("--report", "html", "--report", "junit", "--report", "github", "--report", "canvas")
    assert (ran.code, scores(out)) == (
        0,
        {"ada": "6", LONG: "2", LONG[:-1] + "y": "2", "é" * 120: "2"},
    )
    stems = [path.stem for path in (out / "results").iterdir()]
    assert sorted(len(stem.encode()) for stem in stems)[1:] == [179, 180, 180]
    pages = {path.stem for path in (out / "reports/html/students").glob("*.html")}
    assert pages == {*stems}
    page = (out / "reports/html/index.html").read_text("utf-8")
    assert all(f"students/{stem}.html" in page for stem in stems if stem.isascii())
    assert "2 of 2" in grader("explain", LONG, "scores", "--run", out).out
    assert grader("compare", out, out).code == 0
    again = grade()
    assert (again.code, "graded again" in again.out) == (0, False)
    assert {*scores(out).values()} == {"6", "2"}


def test_nobody_is_called_like_the_file_of_somebody_else(grade, work, out):
    """A folder that is named as a long name is shortened gets another file."""
    work(LONG, scores="right")
    assert grade().code == 0
    (taken,) = [path.stem for path in (out / "results").iterdir()]
    work(taken, scores=UNWRITTEN)
    assert grade().code == 0
    assert scores(out) == {LONG: "2", taken: "0"}
    assert len([*(out / "results").iterdir()]) == 2


def test_no_table_holds_a_formula_and_no_file_an_escape(grade, work, out, tmp_path):
    """Whatever folders are named, whatever a roster says, and after space as well."""
    for name in (*FORMULAS, *ESCAPES):
        work(name, scores="right")
    work("ada", scores="right", mixture="right")
    roster = tmp_path / "roster.csv"
    said = ["student,name,login,id,email,section,labels,tutor"]
    said += ["ada,=5+5,=1+1,=2+2,=3+3@x,=4+4,@a,=6+6", "eve,,,-7,,+8,,"]
    roster.write_text("\n".join(said), "utf-8")
    kinds = ("canvas", "moodle", "items", "github")
    reports = [word for kind in kinds for word in ("--report", kind)]
    for options in ((), ("--roster", roster)):
        assert grade(*options, *reports).code == 0
        tables = [out / "scores.csv", *(out / "reports").rglob("*.csv")]
        assert len(tables) >= 5
        for path in tables:
            with path.open(encoding="utf-8", newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            firsts = {cell.strip("\u200b \t")[:1] for cell in cells if not _is_number(cell)}
            assert not firsts & {*"=+@＝"}, path
            assert {cell for cell in cells if cell.lstrip()[:1] == "-"} <= {"-"} | {
                cell for cell in cells if _is_number(cell)
            }
        for path in (*tables, out / "reports/github/class/summary.md"):
            assert not {"\x1b", "\x07"} & {*path.read_text("utf-8")}
    assert (scores(out)["ada"], scores(out)["'+1+1"]) == ("6", "2")
    assert scores(out)[r"a\x1b[31mred"] == "2"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# Files.


def test_a_link_in_a_circle_is_no_file(grade, work, out):
    """It is nobody's fault but its own, so that the run ends well; nothing of it is read."""
    work("ada", scores="right", mixture="right")
    place = work("eve", scores="right")
    (place / "mixture.py").symlink_to("mixture.py")
    (place / "02_mixture").mkdir()
    (place / "02_mixture" / "mixture.py").symlink_to("other.py")
    (place / "02_mixture" / "other.py").symlink_to("mixture.py")
    assert (grade().code, scores(out)) == (0, {"ada": "6", "eve": "2"})


# Repositories, and the exchange.


def test_a_class_of_hostile_clones_is_graded(grade, out, tmp_path, right, edit):
    """With and without `--history`, where there is a due date."""
    edit(
        "course.toml",
        '[[assignments]]\nid = "01_scores"\n',
        '[[assignments]]\nid = "01_scores"\ndue = 2027-02-01T00:00:00Z\n',
    )
    place, dated = tmp_path / "class", {"GIT_COMMITTER_DATE": "2027-01-31T12:00:00Z"}

    def handed_in(student: str, text: str, **variables: str) -> Clone:
        clone = Clone(place / f"01-scores-{student}")
        (clone.folder / "scores.py").write_text(text, "utf-8")
        clone.work("", **{**dated, **variables})
        return clone

    honest = handed_in("honest", right)
    handed_in("eve", right, GIT_COMMITTER_DATE="@253402300800 +0000")
    thief, pipe = handed_in("thief", UNWRITTEN), handed_in("pipe", right)
    (thief.inside / "objects/info/alternates").write_text(f"{honest.inside / 'objects'}\n")
    (thief.inside / "refs/heads/main").write_text((honest.inside / "refs/heads/main").read_text())
    (pipe.inside / "HEAD").unlink()
    os.mkfifo(pipe.inside / "HEAD")
    for options in ((), ("--history",)):
        shutil.rmtree(out, ignore_errors=True)
        ran = grade(*options)
        assert ran.code == 0, ran.out
        assert scores(out) == {"eve": "2", "honest": "2", "pipe": "2", "thief": "0"}
        said = " ".join(ran.out.split())
        assert "objects/info/alternates in its .git leads elsewhere" in said
        assert "has no date that can be read." in said


def test_a_file_of_the_exchange_that_cannot_be_read(grade, out, tmp_path, right, monkeypatch):
    """Its student is undecided, with the reason; the others are graded."""
    for student in ("ada", "eve"):
        for day, module in ((30, "scores"), (31, "mixture")):
            name = f"{student}+0{day - 29}_{module}+2027-01-{day} 10:00:00 UTC"
            (tmp_path / "class" / name).mkdir(parents=True)
            (tmp_path / "class" / name / f"{module}.py").write_text(right, "utf-8")
    real = shutil.copyfile

    def refuse(source, target):
        if "eve+01" in str(source):
            raise PermissionError(13, "Permission denied", str(source))
        return real(source, target)

    monkeypatch.setattr(shutil, "copyfile", refuse)
    ran = grade()
    assert (ran.code, ran.lines[-1]) == (3, f"UNDECIDED, eve: {NO_ACCESS}.")
    assert scores(out) == {"ada": "2", "eve": "undecided"}
    assert notes(out, "eve") == [f"The grader itself failed: {NO_ACCESS}"]
