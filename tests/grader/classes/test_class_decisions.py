"""Decisions of a class: every output has the same final scores, and no student code is run."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

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
from tests.grader.classes.conftest import STUDENTS, Killed

SCORES = "01_scores/scores"
HIDDEN = f"{SCORES}::hidden::test_other_queries_and_keys"
LATE = '[late]\npercent_per_day = 10\n[[assignments]]\nid = "01_scores"\ntitle = "Scores"\n'
DUE = "due = 2027-02-01T00:00:00Z\n"
SOME = Decisions(
    extensions=(Extension(STUDENTS[0], assignment="01_scores", days=1),),
    exemptions=(Exemption(STUDENTS[1], exercises=("02_mixture/weights", "02_mixture/Mixture")),),
    overrides=(Override(STUDENTS[2], SCORES, 1.75, "So."),),
)
ALL = Decisions(full_marks=(GivenCheck(HIDDEN),), late_days=LateDays(2, 1))


@pytest.fixture
def late(make):
    """A class with a due date."""
    run = make("out")
    run.edit("course.toml", '[[assignments]]\nid = "01_scores"\ntitle = "Scores"\n', LATE + DUE)
    run.run()
    return run


def test_decisions_run_no_code_and_concern_nobody_else(late):
    """Only who is named is written again; undone, everything is as it was."""
    before = late.files()
    late.run(decisions=SOME)
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
    late.run(decisions=SOME)
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


def test_other_dates_with_decisions_end_as_graded_so_from_the_start(late, make):
    """In whatever order dates and decisions come."""
    late.run(decisions=SOME)
    late.edit("course.toml", "2027-02-01T", "2027-01-30T")
    late.run(decisions=SOME)
    late.run(decisions=ALL)
    late.edit("course.toml", "percent_per_day = 10", "percent_per_day = 20")
    late.run(decisions=ALL)
    fresh = make("fresh")
    fresh.run(decisions=ALL)
    assert late.files() == fresh.files()
    assert late.graded == Counter(STUDENTS)


CLASS_WIDE = (
    Decisions(),
    Decisions(full_marks=(GivenCheck(HIDDEN),)),
    Decisions(drop=(DroppedCheck(HIDDEN),)),
    *(Decisions(late_days=LateDays(days, 2)) for days in (1, 3)),
    replace(SOME, full_marks=(GivenCheck(HIDDEN),), late_days=LateDays(3, 3)),
)


def test_decisions_about_everybody_end_as_graded_so_from_the_start(late, make):
    """In any order, and no student code is run."""
    wanted = []
    for number, decisions in enumerate(CLASS_WIDE):
        fresh = make(f"fresh-{number}")
        fresh.run(decisions=decisions)
        wanted.append(fresh.files())
    for number in (1, 2, 3, 0, 5, 4, 1, 5, 0, 2):
        late.run(decisions=CLASS_WIDE[number])
        assert late.files() == wanted[number], number
    assert late.graded == Counter(STUDENTS)


def test_every_output_has_the_same_final_scores(late):
    """The table, the records, the pages, and what platforms import."""
    late.run(decisions=SOME)
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
    everybody = tuple(
        Exemption(name, exercises=("02_mixture/weights",))
        for name in STUDENTS
        if name != STUDENTS[5]
    )
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
def grouped(late, make):
    """A class with a due date, of which one student handed in nothing; to be killed after some."""
    run = make("groups")
    (run.folder / CEM / "scores.py").unlink()
    (run.folder / BO / "scores.py").write_text(
        "# another\n", "utf-8"
    )  # with other points than the first

    def grade(settings, students, until=None):
        for student in students:
            yield from run.grade(settings, [student])
            if student.id == until:
                raise Killed

    def rows(until=None, decisions=GROUP, **options):
        run.run(partial(grade, until=until), decisions=decisions, **options)
        return {row.student: row for row in run.result.rows}

    return run, rows


def test_a_submission_counts_for_the_whole_group(grouped):
    """The one with most points, for each with their own dates; other assignments are their own."""
    run, graded_rows = grouped
    alone = graded_rows(decisions=Decisions())
    rows = graded_rows()
    results = {r.student: r for r in run.results() if r.student in (ADA, BO, CEM)}
    first = {name: one.assignments[0] for name, one in results.items()}
    most = max(alone[name].exercises[SCORES] for name in (ADA, BO))
    assert {float(one.exercises[0].score) for one in first.values()} == {most}
    by = {one.handed_in_by or name for name, one in first.items()}
    assert len(by) == 1
    (name,) = by
    told = f"Handed in by {name} for your group."
    assert {who for who, one in first.items() if told in one.notes} == {ADA, BO, CEM} - by
    assert [first[who].late_days_used for who in (ADA, CEM)] == [min(1, first[ADA].days_late)] * 2
    assert first[BO].days_late == max(0, first[ADA].days_late - 2)
    assert (rows[CEM].submitted, rows[CEM].max_score) == (True, 6)
    assert rows[CEM].assignments["02_mixture"] is None
    mixtures = [rows[who].exercises["02_mixture/Mixture"] for who in (ADA, BO)]
    assert mixtures == [alone[who].exercises["02_mixture/Mixture"] for who in (ADA, BO)]
    assert {who: rows[who].exercises for who in OTHERS} == {
        who: alone[who].exercises for who in OTHERS
    }


def test_a_new_submission_of_one_is_the_groups(grouped):
    """Nobody else is graded, and a run that is cut short ends as one that is not."""
    run, rows = grouped
    rows()
    before, count = run.files(), run.graded.copy()
    path = run.folder / ADA / "scores.py"
    text = path.read_text("utf-8")
    path.write_text("# better\n", "utf-8")
    with pytest.raises(Killed):
        rows(until=ADA)
    rows()
    assert run.graded - count == Counter([ADA])
    better = run.files()
    rows(force=True)
    assert run.files() == better != before
    path.write_text(text, "utf-8")
    rows()
    assert run.files() == before
