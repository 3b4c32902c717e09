"""Tests of `grader styles`: other right ways to write what is solved, and nothing before."""

import shutil

import pytest

pytestmark = pytest.mark.slow

STYLE = """
[[styles]]
exercise = "scores"
name = "{0}"
code = '''
def scores(queries, keys):
    return {0} / keys.shape[-1] ** 0.5
'''
why = "As the formula says."
"""
SHOWN = """\

  {0}

      def scores(queries, keys):
          return {0} / keys.shape[-1] ** 0.5

    As the formula says.
"""
TWO = ("queries @ keys.T", "queries.mm(keys.T)")
HEAD = "01_scores/scores can be written in these ways; each has full marks:\n"
LATER = (
    "01_scores/scores is not solved yet. Other ways to write it are shown once all\n"
    "its visible checks pass.\n"
)
LINE = "Other right ways to write it: `grader styles scores`"


@pytest.fixture
def solve(folder):
    """Writes the solution of the first exercise into the student's file."""
    paths = (folder / name / "01_scores" / "scores.py" for name in ("solutions", "assignments"))
    return lambda: shutil.copy(*paths)


@pytest.fixture
def styled(folder):
    """The course, whose first exercise has two styles."""
    (folder / "solutions" / "01_scores" / "styles.toml").write_text(
        "".join(map(STYLE.format, TWO)), "utf-8"
    )


@pytest.mark.usefixtures("styled")
def test_styles_are_shown_once_the_exercise_is_solved(grader, solve):
    """Also where nobody checked it before."""
    before = grader("styles", "scores")
    assert (before.code, before.out) == (1, LATER)
    solve()
    after = grader("styles", "scores")
    assert (after.code, after.out) == (0, HEAD + "".join(map(SHOWN.format, TWO)))


@pytest.mark.usefixtures("styled")
def test_a_check_leads_to_them_when_it_turns_green(grader, solve):
    """Once, in one line."""
    solve()
    assert [LINE in grader("check", "01").lines for _ in range(2)] == [True, False]


def test_an_exercise_without_styles_says_so(grader, solve):
    """In one sentence, and a check says nothing of them."""
    solve()
    assert "styles" not in grader("check", "01").out
    said = "For 01_scores/scores no other ways are written down.\n"
    assert grader("styles", "scores").out == said
