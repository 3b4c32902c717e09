"""`grader show`, and what is shown of an exercise that was just solved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_views import write_views

pytestmark = pytest.mark.slow

Grader = Callable[..., Any]

RIGHT = """\
def scores(queries, keys):
    return queries @ keys.T / keys.shape[-1] ** 0.5
"""
WRONG = "def scores(queries, keys):\n    return queries @ keys.T\n"
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
"""


@pytest.fixture
def own(folder: Path) -> Callable[[str], None]:
    """Gives the course a view, and writes a student's own file."""
    write_views(folder)

    def write(text: str) -> None:
        (folder / FILE).write_text(text, "utf-8")

    return write


def test_a_view_is_shown_for_each_setting(own: Callable, grader: Grader) -> None:
    """What the code gives, what to look for, and a question; numbers as they are."""
    own(RIGHT)
    grader("check", "scores")
    ran = grader("show")
    assert (ran.code, ran.lines) == (0, SHOWN.splitlines())


def test_work_that_is_not_solved_is_shown_as_it_is(own: Callable, grader: Grader) -> None:
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


def test_a_stub_says_that_it_is_one(own: Callable, folder: Path, grader: Grader) -> None:
    """There is a plain sentence where there is nothing to see."""
    own((folder / FILE).read_text("utf-8"))
    ran = grader("show", "scores")
    assert (ran.code, ran.lines) == (
        1,
        [
            "Scores of the first word  01_scores/scores",
            "  scores is not attempted yet: the stub's NotImplementedError is still there.",
        ],
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["02"], "There is nothing to show for 02. There is for 01_scores."),
        (["01", "--text", " "], "--text holds no words. Give it a few, in quotation marks."),
        (["01", "--text", "a " * 13], "--text has 13 words; at most 12 can be shown."),
        (
            [],
            "`grader show` alone shows the last exercise that is solved, and none is known to be "
            "solved as it is now. Name an exercise, like `grader show scores`: that shows what your code gives so "
            "far.",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    own: Callable, grader: Grader, arguments: list[str], sentence: str
) -> None:
    """A sentence says why, and what can be."""
    own(WRONG)
    ran = grader("show", *arguments)
    assert (ran.code, ran.err) == (2, f"{sentence}\n")


def test_a_course_without_views_says_so(grader: Grader) -> None:
    """It is as it was in everything else."""
    ran = grader("show", "scores")
    assert (ran.code, ran.err) == (2, "There is nothing to show in this course.\n")


def test_a_page_and_json_have_the_same(own: Callable, folder: Path, grader: Grader) -> None:
    """The page is one file that asks for nothing else; both have every state."""
    own(RIGHT)
    assert grader("show", "01", "--html", "page.html").lines == ["Your page: page.html"]
    page = (folder / "page.html").read_text("utf-8")
    assert page.count('class="state"') == 2
    assert "http" not in page.replace("http-equiv", "")
    (record,) = json.loads(grader("show", "01", "--format", "json").out)
    assert record["sliders"] == [{"name": "size", "values": [1, 2]}]
    assert [state[0]["values"] for state in record["states"]] == [
        [[0.7071068, 0.3535534, 0.1767767]],
        [[1.414214, 0.7071068, 0.3535534]],
    ]


def test_check_shows_once_what_was_just_solved(own: Callable, folder: Path, grader: Grader) -> None:
    """The setting in the middle, and how to see more; a page has it each time."""
    own(RIGHT)
    more = '  More of it: `grader show scores`; with `--text "…"` it is about words of your own.'
    first = grader("check", "01").lines
    title, *_lines = SHOWN.splitlines()
    assert first[-8:] == [title, *SHOWN.splitlines()[5:], more]
    again = grader("check", "01", "--report", "html").lines
    assert more not in again
    assert title not in again
    assert "They grow with the query." in (folder / "feedback.html").read_text("utf-8")
    own(WRONG)
    grader("check", "01")
    own(RIGHT)
    assert grader("check", "01").lines == first
