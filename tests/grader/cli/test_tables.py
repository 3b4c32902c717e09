"""Tests of the tables on a terminal: a large class in a few lines."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.classes.rows import Row
from grader.cli.class_output import class_summary, class_table, defect_lines
from grader.course.course import load_course


@pytest.mark.parametrize(
    ("due", "told"),
    [((), []), (("01_scores",), ["Of the 2 points that were due, half has at most 2."])],
)
def test_a_large_class_is_told_in_a_few_lines(root, due, told):
    """Many have what half has at most; of nothing that was due nothing is said."""
    course = load_course(root / "tests" / "example_course")
    rows = [
        Row(f"s{n}", 6 if n else 3, 6, False, True, {}, "", (), "1", assignments={"01_scores": 2})
        for n in range(8)
    ]
    assert class_summary(rows, 6, course.only(due)).splitlines()[1:-1] == [
        "Of 6 points, a quarter has at most 6, half at most 6, three quarters at most 6.",
        *told,
    ]


def test_a_name_is_one_line(root):
    """Whatever a folder is called."""
    row = Row("a\nb\u202ec", 6, 6, False, True, {}, "", (), "1")
    assert [*class_table([row], 6).columns[0].cells] == [r"a\x0ab\x202ec"]


@pytest.mark.parametrize(("count", "lines", "last"), [(10, 10, "s9: it"), (13, 11, "3 more like")])
def test_of_many_defects_the_first_are_shown(count, lines, last):
    """And where the others stand."""
    one = Row("s", 1, 1, False, True, {}, "", (), "1", defects=("it",))
    told = defect_lines([replace(one, student=f"s{n}") for n in range(count)], Path("out"))
    assert len(told) == lines
    assert told[-1].startswith(last)
