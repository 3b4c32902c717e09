"""Tests of styles as data: what is read, and what is refused."""

import pytest

from grader.core.errors import CourseError
from grader.course.styles import Style, read_styles

CODE = "def one():\n    return 1"
FILE = "solutions/01_first/styles.toml"


@pytest.fixture
def read(small_course):
    """Reads a file of styles, given as exercise, name and code."""

    def make(*styles):
        assignment = small_course.assignments[0]
        lines = [
            f"[[styles]]\nexercise = '{exercise}'\nname = '{name}'\ncode = '''{code}'''\nwhy = 'So.'\n"
            for exercise, name, code in styles
        ]
        small_course.paths(assignment).styles.write_text("".join(lines), "utf-8")
        return read_styles(small_course, assignment)

    return make


def test_styles_are_read_by_exercise(read):
    """In their order, without empty lines around the code."""
    found = read(("one", "loop", CODE), ("one", "sum", f"\n{CODE}\n"))
    assert found == {"one": (Style("loop", CODE, "So."), Style("sum", CODE, "So."))}


def test_a_course_needs_no_file_of_them(small_course):
    """Then no exercise has any."""
    assert read_styles(small_course, small_course.assignments[0]) == {}


@pytest.mark.parametrize(
    ("styles", "said"),
    [
        ([("one", "loop", CODE)], "one: found 1 style; at least 2 are needed"),
        ([("on", "loop", CODE)], "styles[1]: found the exercise 'on'; did you mean 'one'?"),
        ([("one", "loop", "def one(:")] * 2, "styles[1].code: line 1: SyntaxError: invalid syntax"),
    ],
    ids=["alone", "no exercise", "no Python"],
)
def test_what_is_wrong_is_told_with_its_place(read, styles, said):
    """All of it at once."""
    with pytest.raises(CourseError) as caught:
        read(*styles)
    assert caught.value.problems[0].startswith(f"{FILE}: {said}")
