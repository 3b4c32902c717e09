"""What the screen says of a class: a large one in a few lines, and who handed in nothing."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from grader.classes.decisions import Group
from grader.classes.rows import Row
from grader.cli.class_output import (
    NOTES,
    class_summary,
    class_table,
    defect_lines,
    gaps_line,
    group_notes,
    print_lines,
)
from grader.course.course import load_course

SCORES, MIXTURE = "01_scores", "02_mixture"


@pytest.fixture(scope="module")
def course(root):
    """A course of two assignments."""
    return load_course(root / "tests" / "example_course")


def row(name, score, *, submitted=True, undecided=False, defects=(), **known):
    """A student's row; assignments by the word in their id."""
    ids = {"scores": SCORES, "mixture": MIXTURE}
    parts = {ids[word]: known.pop(word) for word in ids if word in known}
    known |= {"assignments": parts, "defects": defects}
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


@pytest.mark.parametrize(
    ("due", "told"),
    [((), ""), ((SCORES,), " Of the 2 points that were due, half has at most 2.")],
)
def test_what_was_due_is_told_of_a_large_class(course, due, told):
    """Of nothing that was due nothing is said."""
    rows = [row(f"s{n}", 6, scores=2) for n in range(8)]
    assert class_summary(rows, 6, course.only(due)).splitlines()[1:] == [
        f"Of 6 points, a quarter has at most 6, half at most 6, three quarters at most 6.{told}"
    ]


def test_a_name_is_one_line():
    """Whatever a folder is called."""
    rows = [row("a\nb\u202ec\x1b[31md", 6)]
    assert [*class_table(rows, 6).columns[0].cells] == [r"a\x0ab\x202ec\x1b[31md"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (ROWS, "Handed in nothing: 1 in 01_scores; 2 in 02_mixture."),
        ([ROWS[1], replace(ROWS[1], student="bo")], "Handed in nothing: everybody in 02_mixture."),
        ([ROWS[0], ROWS[2], ROWS[5]], ""),
    ],
    ids=["some", "everybody", "nobody"],
)
def test_gaps_are_said_by_assignment_in_a_line(course, rows, told):
    """Exempt and undecided students have no gap, nor has a zero."""
    assert gaps_line(course, rows) == told


def test_groups_without_work_are_named(course):
    """Not those of whom somebody handed in, is exempt or undecided, nor where nobody has begun."""
    others = ("full", "absent"), ("freed", "absent"), ("open", "absent")
    groups = [Group(("gap", "absent")), *map(Group, others), Group(("gap", "absent"), SCORES)]
    assert [*group_notes(course, ROWS, groups)] == [
        "Groups that handed in nothing: gap + absent in 02_mixture. Check their names in the decisions."
    ]
    assert not [*group_notes(course, [ROWS[1], ROWS[3], ROWS[4]], [Group(("gap", "absent"))])]


@pytest.mark.slow
def test_there_is_nothing_to_explain_of_a_gap(grade, grader, work, folder, out):
    """A gap is not undecided."""
    work("ada", scores="right")
    work("bo", scores="right", mixture="right")
    work("cem")
    group = '[[groups]]\nstudents = ["ada", "cem"]\n'
    (folder / "decisions.toml").write_text(group, "utf-8")
    done = grade()
    assert "Handed in nothing: 2 in 02_mixture." in done.out
    assert "Groups that handed in nothing: ada + cem in 02_mixture." in done.out
    told = grader("explain", "ada", "02_mixture/weights", "--run", out)
    assert (told.code, "ada handed in nothing for it" in told.err) == (2, True)


def test_what_nbgrader_stumbles_over_is_said_once():
    """With all whom it concerns; of many the first."""
    defect = "a.ipynb: the cell a was changed: nbgrader would put its own back"
    rows = [row(f"s{n}", 1, defects=(defect,)) for n in range(12)]
    names = "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more"
    assert defect_lines(rows, Path("out")) == [
        "Cells of these notebooks are not as released: nbgrader would put its own back: "
        f"{names}. `notes` in {Path('out/results')} has the cells."
    ]


@pytest.mark.parametrize(("room", "shown"), [(3, 3), (2, 1), (0, 0)])
def test_lines_for_which_there_is_no_room_stand_in_a_file(tmp_path, room, shown):
    """All of them; a run with room for all takes it away again."""
    path = tmp_path / NOTES
    path.write_text("of an earlier run", "utf-8")
    text = io.StringIO()
    lines = [f"line {n}" for n in range(3)]
    print_lines(Console(file=text, width=200), [(line, "") for line in lines], room, tmp_path)
    told = text.getvalue().splitlines()
    left = [f"{3 - shown} more lines to read: {path} has all."] if shown < 3 else []
    assert told == [*lines[:shown], *left]
    assert (path.read_text("utf-8") if path.is_file() else "") == (
        "line 0\nline 1\nline 2\n" if left else ""
    )
