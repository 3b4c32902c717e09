"""Decisions of a class: every output has the same final scores, and no student code is run."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from grader.classes.decisions import (
    Comment,
    Decisions,
    DroppedCheck,
    Exemption,
    Extension,
    GivenCheck,
    Group,
    LateDays,
    Override,
    Resolved,
)
from grader.classes.records import open_records
from grader.reports.base import GradedClass, graded
from grader.reports.html.pages import student_page
from tests.grader.classes.conftest import HIDDEN_CHECK, IDS, SOME, STUDENTS, Killed

SCORES = "01_scores/scores"
THREE = Decisions(
    extensions=(Extension(STUDENTS[0], assignment="01_scores", days=1),),
    exemptions=(Exemption(STUDENTS[1], exercises=("02_mixture/weights", "02_mixture/Mixture")),),
    overrides=(Override(STUDENTS[2], SCORES, 1.75, "So."),),
)


@pytest.fixture
def late(make):
    """A class with a due date."""
    run = make("out")
    run.make_late()
    run.run()
    return run


def test_decisions_run_no_code_and_concern_nobody_else(late):
    """Only who is named is written again; undone, everything is as it was."""
    before = late.files()
    late.run(decisions=THREE)
    rows = {row.student: row for row in late.result.rows}
    assert late.begun[-1] == (20, 20)
    assert late.told == []
    assert rows[STUDENTS[0]].decided == ("extension 01_scores",)
    assert rows[STUDENTS[1]].exempt == (
        *("02_mixture/weights", "02_mixture/Mixture", "02_mixture"),
    )
    assert rows[STUDENTS[2]].exercises[SCORES] == 1.75
    changed = {name for name, text in late.files().items() if before[name] != text}
    named = {f"{kind}/{name}.json" for kind in ("results", "feedback") for name in STUDENTS[:3]}
    assert changed == {*named, "scores.csv", "summary.json"}
    again = late.files()
    late.run(decisions=THREE)
    assert late.files() == again
    late.run()
    assert late.files() == before
    assert late.graded == Counter(STUDENTS)


def test_a_comment_is_read_whatever_was_handed_in_and_changes_no_score(late, tmp_path):
    """Also of what is kept of an earlier run, and where there is nothing."""
    nobody = "never handed in"
    late.run(never_lower=None)
    (tmp_path / "class" / nobody).mkdir()
    kept = open_records(late.out)
    before = {name: kept.result(name).score for name in STUDENTS}
    decisions = Decisions(
        comments=(
            Comment(STUDENTS[0], "On scores.", exercise=SCORES),
            Comment(nobody, "Come and see me.", assignment="01_scores"),
        ),
        resolved=(Resolved(STUDENTS[1], SCORES),),
    )
    late.run(names=[*STUDENTS, nobody], decisions=decisions, never_lower=kept)
    results = {result.student: result for result in late.results()}
    assert {name: results[name].score for name in STUDENTS} == before
    assert results[nobody].score is None
    assert not results[nobody].submitted
    notes = [results[name].assignments[0].notes[-1] for name in (STUDENTS[0], STUDENTS[1], nobody)]
    assert notes == [
        "From your instructor, on scores: On scores.",
        "scores: your request was looked at.",
        "From your instructor: Come and see me.",
    ]
    assert results[STUDENTS[1]].decided == (f"resolved {SCORES}",)
    page = student_page(results[nobody], late.result.course)
    assert "Come and see me." in page
    assert "Nothing was handed in." in page


CLASS_WIDE = (
    Decisions(),
    Decisions(full_marks=(GivenCheck(HIDDEN_CHECK),)),
    Decisions(drop=(DroppedCheck(HIDDEN_CHECK),)),
    Decisions(late_days=LateDays(3, 2)),
    replace(THREE, full_marks=(GivenCheck(HIDDEN_CHECK),), late_days=LateDays(3, 3)),
    *SOME,
)


def test_decisions_end_as_graded_so_from_the_start(late, make):
    """In any order, and no student code is run; so do other dates."""

    def fresh(name, decisions):
        run = make(f"fresh-{name}")
        run.run(decisions=decisions)
        return run.files(), run.store()

    wanted = [fresh(*numbered) for numbered in enumerate(CLASS_WIDE)]
    for number in (*range(len(CLASS_WIDE)), 2, 0, 4, 1, 4, 0):
        late.run(decisions=CLASS_WIDE[number])
        assert (late.files(), late.store()) == wanted[number], number
    for old, new in (("2027-02-01T", "2027-01-30T"), ("per_day = 10", "per_day = 20")):
        late.run(decisions=THREE)
        late.edit("course.toml", old, new)
        late.run(decisions=CLASS_WIDE[4])
    assert (late.files(), late.store()) == fresh("dates", CLASS_WIDE[4])
    assert late.graded == Counter(STUDENTS)


def test_every_output_has_the_same_final_scores(late):
    """The table, the records, the pages, and what platforms import."""
    late.run(decisions=THREE)
    rows = late.result.rows
    results = late.results()
    now = datetime(2027, 3, 1, tzinfo=UTC)
    run = GradedClass(late.result.course, results, {}, now)
    kinds = ("canvas", "moodle", "gradescope", "html")
    files = {file.path: file.content for file in graded(kinds, run)}
    table = [*csv.DictReader(io.StringIO((late.out / "scores.csv").read_text("utf-8")))]
    canvas = [*csv.reader(io.StringIO(files["canvas/gradebook.csv"]))][2:]
    moodle = [*csv.reader(io.StringIO(files["moodle/grades.csv"]))][1:]
    for row, line, there, other in zip(rows, table, canvas, moodle, strict=True):
        own = json.loads(files[f"gradescope/{row.student}.json"])
        assert float(line["score"]) == row.score == own["score"]
        parts = [line["01_scores"], line["02_mixture"]]
        assert there[5:] == ["EX" if part == "exempt" else part for part in parts]
        assert other[3:] == ["" if part == "exempt" else part for part in parts]
        page = files[f"html/students/{row.student}.html"]
        assert f"<strong>{row.score}</strong> <span>of {row.max_score} points" in page
        is_told = f"alone: {row.automatic} points" in page
        assert is_told == bool(line["decided"]) == (row.student in STUDENTS[:3])
        assert line["automatic"] == ("" if row.automatic is None else str(row.automatic))
    assert [line["max_score"] for line in table[:3]] == ["6", "2", "6"]


def test_a_thousand_exemptions_leave_the_class_its_points(late):
    """The class is out of what most are out of, also where the first student is not."""
    others = (name for name in STUDENTS if name != STUDENTS[5])
    everybody = tuple(Exemption(name, exercises=("02_mixture/weights",)) for name in others)
    late.run(decisions=Decisions(exemptions=everybody))
    assert json.loads((late.out / "summary.json").read_text("utf-8"))["max_score"] == 6


# Groups.

ADA, BO, CEM, *OTHERS = STUDENTS
GROUP = Decisions(
    extensions=(Extension(BO, assignment="01_scores", days=2),),
    late_days=LateDays(1, 1),
    groups=(Group((ADA, BO, CEM), "01_scores"),),
)


@pytest.fixture
def grouped(late):
    """A class with a due date, of which one student handed in nothing."""
    (late.folder / CEM / "scores.py").unlink()
    (late.folder / BO / "scores.py").write_text("# has other points\n", "utf-8")
    return late


def by_name(rows):
    """The rows of a class."""
    return {row.student: row for row in rows}


def test_a_submission_counts_for_the_whole_group(grouped):
    """The one with most points, for each with their own dates; other assignments are their own."""
    alone, rows = (by_name(grouped.run(decisions=one)) for one in (Decisions(), GROUP))
    results = {r.student: r for r in grouped.results() if r.student in (ADA, BO, CEM)}
    first = {name: one.assignments[0] for name, one in results.items()}
    most = max(alone[name].exercises[SCORES] for name in (ADA, BO))
    assert {float(one.exercises[0].score) for one in first.values()} == {most}
    (name,) = {one.handed_in_by or name for name, one in first.items()}
    told = f"Handed in by {name} for your group."
    others = {ADA, BO, CEM} - {name}
    assert {who for who, one in first.items() if told in one.notes} == others
    assert {who for who in STUDENTS if f"group {IDS[0]}" in rows[who].decided} == others
    assert f"group {IDS[0]}" in (grouped.out / "scores.csv").read_text("utf-8")
    assert all(rows[who].automatic == alone[who].score for who in others)
    assert grouped.result.why["decisions"] == 1
    assert [first[who].late_days_used for who in (ADA, CEM)] == [min(1, first[ADA].days_late)] * 2
    assert first[BO].days_late == max(0, first[ADA].days_late - 2)
    assert (rows[CEM].submitted, rows[CEM].max_score) == (True, 6)
    assert rows[CEM].assignments["02_mixture"] is None
    for who in (ADA, BO):
        assert rows[who].assignments["02_mixture"] == alone[who].assignments["02_mixture"]
    for who in OTHERS:
        assert rows[who].exercises == alone[who].exercises


def test_a_new_submission_of_one_is_the_groups(grouped):
    """Nobody else is graded, and a run that is cut short ends as one that is not."""
    run = grouped
    run.run(decisions=GROUP)
    before, count = run.files(), run.graded.copy()
    path = run.folder / ADA / "scores.py"
    text = path.read_text("utf-8")
    path.write_text("# better\n", "utf-8")

    def cut_short(settings, students):
        yield from run.grade(settings, students)
        raise Killed

    with pytest.raises(Killed):
        run.run(cut_short, decisions=GROUP)
    run.run(decisions=GROUP)
    assert run.graded - count == Counter([ADA])
    better = run.files()
    run.run(decisions=GROUP, force=True)
    assert run.files() == better != before
    path.write_text(text, "utf-8")
    run.run(decisions=GROUP)
    assert run.files() == before
