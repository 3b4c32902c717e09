"""What the screen says of a class in which not everybody handed in everything."""

import pytest

from grader.classes.decisions import Group
from grader.classes.rows import Row
from grader.cli.class_output import class_summary, gaps_line, group_notes
from grader.course.course import load_course

SCORES, MIXTURE = "01_scores", "02_mixture"


@pytest.fixture(scope="module")
def course(root):
    """A course of two assignments."""
    return load_course(root / "tests" / "example_course")


def row(name, score, *, submitted=True, undecided=False, exempt=(), open_=(), **assignments):
    """A student's row; assignments by the word in their id."""
    ids = {"scores": SCORES, "mixture": MIXTURE}
    parts = {ids[word]: points for word, points in assignments.items()}
    known = {"exempt": exempt, "open_": open_, "assignments": parts}
    return Row(name, score, 6, undecided, submitted, {}, "", (), "1", **known)


ROWS = [
    row("full", 6, scores=2, mixture=4),
    row("gap", 2, scores=2, mixture=None),
    row("zero", 0, scores=0, mixture=0),
    row("absent", None, submitted=False),
    row("exempt", 2, scores=2, exempt=(MIXTURE,)),
    row("freed", None, exempt=(SCORES, MIXTURE)),
    row("open", None, undecided=True, scores=2, mixture=None, open_=(MIXTURE,)),
]


def test_each_student_of_a_large_class_is_counted_once():
    """With a score, without work, undecided, and exempt from everything."""
    told, quarters = class_summary(ROWS, 6).splitlines()
    assert told == (
        "7 students: 4 with a score, 1 handed in nothing, 1 undecided, for 1 nothing counts."
    )
    assert quarters == (
        "Of 6 points, a quarter has at most 2, half at most 2, three quarters at most 6."
    )


def test_gaps_are_said_by_assignment_in_a_line(course):
    """Exempt and undecided students have no gap."""
    assert gaps_line(course, ROWS) == "Handed in nothing: 1 in 01_scores; 2 in 02_mixture."


def test_where_nobody_has_a_gap_nothing_is_said(course):
    """A zero is none."""
    assert not gaps_line(course, [ROWS[0], ROWS[2], ROWS[5]])


def test_what_nobody_handed_in_is_said_of_everybody(course):
    """Without a number for each."""
    rows = [row("ada", 2, scores=2, mixture=None), row("bo", 1, scores=1, mixture=None)]
    assert gaps_line(course, rows) == "Handed in nothing: everybody in 02_mixture."


def test_groups_without_work_are_named(course):
    """Not those of whom somebody handed in, is exempt or undecided, nor where nobody has begun."""
    others = ("full", "absent"), ("freed", "absent"), ("open", "absent")
    groups = [Group(("gap", "absent")), *map(Group, others), Group(("gap", "absent"), SCORES)]
    assert [*group_notes(course, ROWS, groups)] == [
        "Groups that handed in nothing: gap + absent in 02_mixture. Check their names in the decisions."
    ]
    assert not [*group_notes(course, [ROWS[1], ROWS[3], ROWS[4]], [Group(("gap", "absent"))])]


@pytest.mark.slow
def test_there_is_nothing_to_explain_of_a_gap(grader, work, tmp_path):
    """A gap is not undecided."""
    work("ada", scores="right")
    out = tmp_path / "out"
    students = work("bo", scores="right", mixture="right").parent
    here = ("--isolation", "process", "--jobs", 1)
    decisions = tmp_path / "decisions.toml"
    decisions.write_text('[[groups]]\nstudents = ["ada", "cem"]\n', "utf-8")
    work("cem")
    done = grader("grade", students, "--out", out, "--decisions", decisions, *here)
    assert "Handed in nothing: 2 in 02_mixture." in done.out
    assert "Groups that handed in nothing: ada + cem in 02_mixture." in done.out
    told = grader("explain", "ada", "02_mixture/weights", "--run", out)
    assert told.code
    assert "ada handed in nothing for it" in told.err
