"""Tests of the tables on a terminal: a large class in a few lines."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from grader.classes.rows import Row
from grader.cli.class_output import NOTES, class_summary, class_table, defect_lines, print_lines
from grader.course.course import load_course

MENDED = " changed: nbgrader would put its own back"


@pytest.mark.parametrize(
    ("due", "told"),
    [((), ""), (("01_scores",), " Of the 2 points that were due, half has at most 2.")],
)
def test_a_large_class_is_told_in_a_few_lines(root, due, told):
    """Many have what half has at most; of nothing that was due nothing is said."""
    course = load_course(root / "tests" / "example_course")
    rows = [
        Row(f"s{n}", 6 if n else 3, 6, False, True, {}, "", (), "1", assignments={"01_scores": 2})
        for n in range(8)
    ]
    assert class_summary(rows, 6, course.only(due)).splitlines()[1:] == [
        f"Of 6 points, a quarter has at most 6, half at most 6, three quarters at most 6.{told}"
    ]


def test_a_name_is_one_line(root):
    """Whatever a folder is called."""
    row = Row("a\nb\u202ec", 6, 6, False, True, {}, "", (), "1")
    assert [*class_table([row], 6).columns[0].cells] == [r"a\x0ab\x202ec"]


def test_what_nbgrader_stumbles_over_is_said_once():
    """With all whom it concerns; of many the first."""
    one = Row(
        "s", 1, 1, False, True, {}, "", (), "1", defects=(f"a.ipynb: the cell a was{MENDED}",)
    )
    rows = [replace(one, student=f"s{n}") for n in range(12)]
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
    lines = [(f"line {n}", "") for n in range(3)]
    print_lines(Console(file=text, width=200), lines, room, tmp_path)
    told = text.getvalue().splitlines()
    assert told[:shown] == [f"line {n}" for n in range(shown)]
    if shown == 3:
        assert (len(told), path.is_file()) == (3, False)
    else:
        more = "lines" if shown < 2 else "line"
        assert told[shown:] == [f"{3 - shown} more {more} to read: {path} has all."]
        assert path.read_text("utf-8") == "line 0\nline 1\nline 2\n"
