"""`grader show`, and what is shown of an exercise that was just solved."""

import json

import pytest
from example_views import write_views

pytestmark = pytest.mark.slow

WRONG = "def scores(queries, keys):\n    return queries @ keys.T\n"
RIGHT = WRONG.replace("keys.T", "keys.T / keys.shape[-1] ** 0.5")
FILE = "assignments/01_scores/scores.py"
SHOWN = """\
Scores of the first word  01_scores/scores
  size = 1
  query ↓ key →
               One    small     step
      One   0.7071   0.3536   0.1768
  size = 2
  query ↓ key →
               One    small     step
      One   1.4142   0.7071   0.3536
  They grow with the query.
  By how much?
""".splitlines()


@pytest.fixture
def own(folder):
    """Gives the course a view, and writes a student's own file."""
    write_views(folder)
    return lambda text: (folder / FILE).write_text(text, "utf-8")


def test_a_view_is_shown_for_each_setting(own, grader):
    """What the code gives, what to look for, and a question; numbers as they are."""
    own(RIGHT)
    grader("check", "scores")
    ran = grader("show")
    assert (ran.code, ran.lines) == (0, SHOWN)


def test_work_that_is_not_solved_is_shown_as_it_is(own, grader):
    """The sentence then says when it holds, and other words have vectors of their own."""
    own(WRONG)
    ran = grader("show", "01", "--text", "One, two")
    assert ran.code == 0
    assert ran.lines[1:4] == [
        "  Not in the example: two. Its vector is random, the same each time.",
        "  Not solved yet: this is what your code gives now.",
        "  size = 1",
    ]
    assert "  Once it is solved: They grow with the query." in ran.lines


@pytest.mark.usefixtures("own")
def test_a_stub_says_that_it_is_one(grader):
    """There is a plain sentence where there is nothing to see."""
    said = "  scores is not attempted yet: the stub's NotImplementedError is still there."
    ran = grader("show", "scores")
    assert (ran.code, ran.lines) == (1, [SHOWN[0], said])


NONE_SOLVED = (
    "`grader show` alone shows the last exercise that is solved, and none is known to be "
    "solved as it is now. Name an exercise, like `grader show scores`: that shows what your code "
    "gives so far."
)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["02"], "There is nothing to show for 02. There is for 01_scores."), ([], NONE_SOLVED)],
)
@pytest.mark.usefixtures("own")
def test_what_cannot_be_asked_for(grader, arguments, sentence):
    """A sentence says why, and what can be."""
    ran = grader("show", *arguments)
    assert (ran.code, ran.err) == (2, f"{sentence}\n")


def test_a_course_without_views_says_so(grader):
    """It is as it was in everything else."""
    ran = grader("show", "scores")
    assert (ran.code, ran.err) == (2, "There is nothing to show in this course.\n")


def test_a_page_and_json_have_the_same(own, folder, grader):
    """The page is one file that asks for nothing else; both have every state."""
    own(RIGHT)
    assert grader("show", "01", "--html", "page.html").lines == ["Your page: page.html"]
    page = (folder / "page.html").read_text("utf-8")
    assert page.count('class="state"') == 2
    assert "http" not in page.replace("http-equiv", "")
    (record,) = json.loads(grader("show", "01", "--format", "json").out)
    assert record["sliders"] == [{"name": "size", "values": [1, 2]}]
    first, second = ([0.7071068, 0.3535534, 0.1767767], [1.414214, 0.7071068, 0.3535534])
    assert [state[0]["values"] for state in record["states"]] == [[first], [second]]


def test_check_shows_once_what_was_just_solved(own, folder, grader):
    """The setting in the middle, and how to see more; a page has it each time."""
    own(RIGHT)
    more = '  More of it: `grader show scores`; with `--text "…"` it is about words of your own.'
    first = grader("check", "01").lines
    assert first[-8:] == [SHOWN[0], *SHOWN[5:], more]
    again = grader("check", "01", "--report", "html").lines
    assert not {more, SHOWN[0]} & {*again}
    assert "They grow with the query." in (folder / "feedback.html").read_text("utf-8")
    own(WRONG)
    grader("check", "01")
    own(RIGHT)
    assert grader("check", "01").lines == first
