"""Tests of `grader predict`: asked before, answered by the student's own code after."""

import shutil
from types import SimpleNamespace

import click
import pytest
from predictions import PATH, PREDICTION

from grader.course.course import load_course
from grader.extras import predict
from grader.judging.views import CodeAnswer
from grader.progress.solved import Solved, what_precedes
from grader.progress.store import Memory
from grader.testing.predictions import Prediction

pytestmark = pytest.mark.slow

QUESTION = """\
01_scores/scores: what do you predict? It is not worth points.

  Keys of four ones in place of one. What happens to the score?

    1  nothing
    2  it doubles
    3  it grows four times

"""
ASKED = QUESTION + "Answer with `grader predict scores --answer NUMBER`.\n"
WAITING = """\
01_scores/scores
  You said: it grows four times.
  Your code answers once it is solved: `grader check scores`.
"""
ANSWERED = """\
01_scores/scores
  You said: it grows four times. Your code says: it doubles (1 → 2).
  Four products, divided by the root of four.
"""


@pytest.fixture
def predicting(folder):
    """The example course with a prediction, before its first exercise."""
    (folder / PATH).write_text(PREDICTION, "utf-8")
    return folder


def test_a_prediction_is_asked_for_remembered_and_answered(grader, predicting):
    """By the check that turns green, once, and by the command from then on."""
    assert grader("predict", "01").out == ASKED
    assert grader("predict", "scores", "--answer", 3).out == WAITING
    assert grader("predict", "01").out == WAITING
    paths = (predicting / name / "01_scores" / "scores.py" for name in ("solutions", "assignments"))
    shutil.copy(*paths)
    assert [ANSWERED in grader("check", "01").out for _ in range(2)] == [True, False]
    assert grader("predict", "01").out == ANSWERED


@pytest.mark.usefixtures("predicting")
def test_at_a_terminal_the_number_is_asked_for(grader, monkeypatch):
    """Among those of the choices."""
    monkeypatch.setattr(predict.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "prompt", lambda text, **_: {"Your prediction (1 to 3)": 3}[text])
    assert grader("predict", "01").out == f"{QUESTION}\n{WAITING}"


ONCE = "Give --answer once for each prediction, in this order: 01_scores/scores."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("02", "There is no prediction for 02. There are some in these assignments: 01."),
        ("01 --answer 4", "4 is no choice for 01_scores/scores; they are numbered from 1 to 3."),
        ("01 --answer 1 --answer 2", ONCE),
    ],
)
@pytest.mark.usefixtures("predicting")
def test_what_cannot_be_predicted_is_told(grader, arguments, said):
    """In a sentence, with what there is."""
    ran = grader("predict", *arguments.split())
    assert (ran.code, ran.out, ran.err) == (2, "", f"{said}\n")


ANOTHER = "Your code says: c (9).\n  Right code says: b. Look at yours once more.\n  So."


@pytest.mark.parametrize(
    ("number", "answer", "told"),
    [
        (2, CodeAnswer(2, "1 → 2"), "You said: b. Your code says the same: 1 → 2.\n  So."),
        (2, CodeAnswer(2, ""), "You said: b. Your code says the same.\n  So."),
        (1, CodeAnswer(2, ""), "You said: a. Your code says: b.\n  So."),
        (2, CodeAnswer(3, "9"), f"You said: b. {ANOTHER}"),
        (1, "It broke.", "You said: a.\n  It broke."),
    ],
)
def test_what_was_said_stands_beside_what_the_code_says(small_course, number, answer, told):
    """And where the code is not right, that it is not."""
    one = Prediction("one", "?", ("a", "b", "c"), 2, "So.", lambda student: (1, ""))
    assert predict.answer_text(small_course, one, number, answer) == f"  {told}"


def test_what_comes_next_leads_to_a_prediction_and_back(predicting):
    """Before it is made, and once the exercise is solved."""
    course = load_course(predicting)
    one, other = (course.exercises[id_] for id_ in ("01_scores/scores", "02_mixture/weights"))
    before = "Before you write it: `grader predict scores` asks what you expect."
    assert [what_precedes(course, each) for each in (one, other)] == [[before], []]
    checked = SimpleNamespace(environment=SimpleNamespace(course=course))
    solved = Solved(checked, None, None, [one], "watch")
    assert [*predict.after(solved)] == []
    Memory(predicting).remember_prediction(one.id, 1)
    assert what_precedes(course, one) == []
    said = [str(shown.text) for shown in predict.after(solved)]
    assert said == ["Were you right? `grader predict scores`"]
