"""Lines that are added to a `course.toml`: comments and layout stay as they are."""

import pytest

from grader.authoring.scaffold import with_assignment, with_exercise
from grader.core.errors import UsageError

TEXT = """\
# What is decided.
[course]
title = "Small"
points = 9     # the total

[[assignments]]  # the first
id = "01_first"
title = "First"
[assignments.exercises]
one = 2          # easy
two = 3

[[assignments]]
id = "02_second"
title = "Second"
imports = ["01_first"]
[assignments.exercises]
three = 4
# the end
"""


@pytest.mark.parametrize(
    ("assignment", "after", "before"),
    [
        ("01_first", "", "two = 3\n"),
        ("01_first", "two", "two = 3\n"),
        ("01_first", "one", "one = 2          # easy\n"),
        ("02_second", "", "three = 4\n"),
    ],
)
def test_an_exercise_is_a_line_below_another_one(assignment: str, after: str, before: str) -> None:
    """Below the last one unless said, and the total follows."""
    expected = TEXT.replace(before, f"{before}new = 2\n").replace("= 9     #", "= 11    #")
    assert with_exercise(TEXT, assignment, "new", 2, after) == expected


@pytest.mark.parametrize(
    ("points", "total", "line"),
    [
        ("points = 9", 1.5, "points = 10.5"),
        ("points = 9 # all", 1, "points = 10 # all"),
        ("", 2, ""),
    ],
)
def test_the_total_follows_where_there_is_one(points: str, total: float, line: str) -> None:
    """Half points are half ones."""
    text = TEXT.replace("points = 9     # the total", points)
    found = with_exercise(text, "01_first", "new", total)
    assert found == text.replace("two = 3\n", f"two = 3\nnew = {total}\n").replace(points, line)


def test_an_assignment_is_a_block_at_the_end() -> None:
    """With a line for each exercise."""
    block = '\n[[assignments]]\nid = "03_a"\ntitle = "A \\"b\\""\n[assignments.exercises]\nx = 1\ny = 1\n'
    expected = (TEXT + block).replace("= 9     #", "= 11    #")
    assert with_assignment(TEXT, "03_a", '"A \\"b\\""', {"x": 1, "y": 1}) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("exercises = {one = 2, two = 3}", "exercises = {one = 2, two = 3, new = 2}"),
        (
            '[assignments.exercises]\none = 2\n"two" = 3',
            '[assignments.exercises]\none = 2\n"two" = 3\nnew = 2',
        ),
    ],
)
def test_an_exercise_is_added_to_other_layouts(before: str, after: str) -> None:
    """A table in one line, and names in quotes."""
    text = f'[[assignments]]\nid = "01_first"\n{before}\n'
    assert with_exercise(text, "01_first", "new", 2) == text.replace(before, after)


def test_a_layout_that_cannot_be_edited_is_refused() -> None:
    """With what is to be added by hand; nothing is guessed."""
    text = '[[assignments]]\nid = "01_first"\nexercises.one = 2\nexercises.two = 3\n'
    with pytest.raises(UsageError, match=r"no line can be added to[^$]*new = 2"):
        with_exercise(text, "01_first", "new", 2)
