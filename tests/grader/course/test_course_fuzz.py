"""Whatever stands in `course.toml`, reading it gives a course or a `CourseError`."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.core.errors import CourseError
from grader.course.course import Course, load_course

SAME_FOLDER = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
"""Each example overwrites the one file it reads, so one folder serves them all."""

VALUES = st.recursive(
    st.sampled_from(["0", "-1", "2", "1e400", "nan", "inf", "true", '""', '"x"', '"01_a"', '"py"'])
    | st.sampled_from(["2027-02-01T23:59:00Z", "2027-02-01", "23:59:00", '"""a\nb"""', "0xFFFF"])
    | st.integers().map(str)
    | st.floats().map(repr)
    | st.text(string.printable).map(lambda text: "'" + text.replace("'", "") + "'"),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | inner.map(lambda item: "{a = " + item + "}")
    ),
    max_leaves=5,
)
KEYS = st.sampled_from(
    (
        *("course", "title", "prefer", "limits", "late", "assignments", "id", "imports", "due"),
        *("exercises", "memory_mib", "load_seconds", "grace_minutes", "dot", '"a-b"', "titel"),
    )
)
HEADS = st.sampled_from(
    ["[course]", "[limits]", "[late]", "[[assignments]]", "[assignments.exercises]", "[x.y]", ""]
)
LINES = HEADS | st.tuples(KEYS, VALUES).map(" = ".join)


def reads_or_explains(folder, data):
    """Whether reading ends in a course or in problems, each with its place."""
    (folder / "course.toml").write_bytes(data)
    try:
        return isinstance(load_course(folder), Course)
    except CourseError as error:
        problems = error.problems
    return bool(problems) and all(problem.startswith("course.toml: ") for problem in problems)


@SAME_FOLDER
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_give_a_course_or_a_course_error(tmp_path, data):
    """Bytes and text of any kind end in nothing else."""
    assert reads_or_explains(tmp_path, data)


@SAME_FOLDER
@given(st.lists(LINES, max_size=12))
def test_any_toml_gives_a_course_or_a_course_error(tmp_path, lines):
    """Known keys in wrong places, with wrong values, end in nothing else."""
    assert reads_or_explains(tmp_path, "\n".join(lines).encode())


@SAME_FOLDER
@given(key=KEYS, value=VALUES)
def test_any_value_in_an_assignment_gives_a_course_or_a_course_error(tmp_path, key, value):
    """A manifest that is right but for one value ends in nothing else."""
    text = f'[course]\ntitle = "T"\n[[assignments]]\n{key} = {value}\n'
    assert reads_or_explains(tmp_path, text.encode())


ASSIGNMENT = "[course]\ntitle = 'T'\n[[assignments]]\nid = '01_a'\n"
HUGE = "0x" + "f" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        f"[course]\ntitle = {HUGE}",
        f"[limits]\nload_seconds = {HUGE}",
        f"[late]\npercent_per_day = {HUGE}",
        "[course]\ntitle" + ".a" * 2_000 + " = 1",
        "[course]\ntitle = " + "[" * 400 + "]" * 400,
        "assignments = 1\n[course]\nprefer = [[], {}]",
        f"{ASSIGNMENT}title = 'A'\n[assignments.exercises]\ndot = {HUGE}\n",
    ],
    ids=["title", "seconds", "percent", "deep table", "deep list", "odd prefer", "points"],
)
def test_a_value_that_is_hard_to_show_gives_a_course_error(text, tmp_path):
    """Numbers of thousands of digits and tables within tables are told like any wrong value."""
    (tmp_path / "course.toml").write_text(text, "utf-8")
    with pytest.raises(CourseError):
        load_course(tmp_path)
