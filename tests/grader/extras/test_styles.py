"""Tests of `grader styles`: other right ways to write what is solved, and nothing before."""

import shutil

import pytest

pytestmark = pytest.mark.slow

STYLES = """
[[styles]]
exercise = "scores"
name = "a product"
code = '''
def scores(queries, keys):
    return queries @ keys.T / keys.shape[-1] ** 0.5
'''
why = "As the formula says."

[[styles]]
exercise = "scores"
name = "einsum"
code = '''
def scores(queries, keys):
    return torch.einsum("qd,kd->qk", queries, keys) / keys.shape[-1] ** 0.5
'''
why = "d is summed over."
"""
SHOWN = """\
01_scores/scores can be written in these ways; each has full marks:

  a product

      def scores(queries, keys):
          return queries @ keys.T / keys.shape[-1] ** 0.5

    As the formula says.

  einsum

      def scores(queries, keys):
          return torch.einsum("qd,kd->qk", queries, keys) / keys.shape[-1] ** 0.5

    d is summed over.
"""
LATER = (
    "01_scores/scores is not solved yet. Other ways to write it are shown once all\n"
    "its visible checks pass.\n"
)
LINE = "Other right ways to write it: `grader styles scores`"


@pytest.fixture
def styled(folder):
    """A course whose first exercise has two styles."""
    (folder / "solutions" / "01_scores" / "styles.toml").write_text(STYLES, "utf-8")
    return folder


@pytest.fixture
def solve(styled):
    """Writes the solution of the first exercise into the student's file."""
    paths = ("solutions", "assignments")
    source, target = (styled / folder / "01_scores" / "scores.py" for folder in paths)
    return lambda: shutil.copy(source, target)


def test_styles_are_shown_once_the_exercise_is_solved(grader, solve):
    """Also where nobody checked it before."""
    before = grader("styles", "scores")
    assert (before.code, before.out) == (1, LATER)
    solve()
    after = grader("styles", "scores")
    assert (after.code, after.out) == (0, SHOWN)


def test_a_check_leads_to_them_when_it_turns_green(grader, solve):
    """Once, in one line."""
    solve()
    assert [LINE in grader("check", "01").lines for _ in range(2)] == [True, False]


def test_an_exercise_without_styles_says_so(grader, folder):
    """In one sentence, and a check says nothing of them."""
    stub = folder / "assignments" / "01_scores" / "scores.py"
    shutil.copy(folder / "solutions" / "01_scores" / "scores.py", stub)
    assert "styles" not in grader("check", "01").out
    said = "For 01_scores/scores no other ways are written down.\n"
    assert grader("styles", "scores").out == said
