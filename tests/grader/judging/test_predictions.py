"""Predictions: how they are declared, loaded, and answered by a student's code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from predictions import PATH, PREDICTION

from grader.core.errors import CourseError
from grader.course.check_helpers import predicted, predicted_ids
from grader.course.course import Course, load_course
from grader.judging.fixtures import live_environment, read_solutions
from grader.judging.views import CodeAnswer, answered, load_predictions
from grader.release.stubs import generate
from grader.release.students import check_files
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import read_submission
from grader.testing.lookup import SubmissionHandle

ID = "01_scores/scores"
Write = Callable[[str], Course]


@pytest.fixture
def written(course_copy: Path) -> Write:
    """The example course with a file of predictions."""

    def write(text: str) -> Course:
        (course_copy / PATH).write_text(text, "utf-8")
        return load_course(course_copy)

    return write


def answer_of(course: Course, work: str | None = None) -> CodeAnswer | str:
    """What some work says to the prediction; the solution's unless given."""
    submission = read_solutions(course)
    if work is not None:
        folder = course.root / "work" / "01_scores"
        folder.mkdir(parents=True)
        (folder / "scores.py").write_text(work, "utf-8")
        submission = read_submission(course, folder.parent, "me")
    handle = SubmissionHandle(submission, InProcessSession(submission), course.limits)
    one = load_predictions(course, [ID])[ID]
    return answered(live_environment(course, "visible"), handle, course.exercises[ID], one)


STUB = 'def scores(queries, keys):\n    raise NotImplementedError("01_scores/scores: not attempted yet")\n'


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (None, CodeAnswer(2, "1 → 2")),
        ("def scores(queries, keys):\n    return queries @ keys.T\n", CodeAnswer(3, "1 → 4")),
        (STUB, "not attempted yet"),
        ("def scores(q, k):\n    return None\n", "(AttributeError: 'NoneType' object has no"),
        ("def scores(q, k):\n    return q @ k.T * 0 + q.shape[1] ** 3\n", "(KeyError: 64.0)"),
    ],
    ids=["solution", "wrong", "stub", "none", "no choice"],
)
def test_the_code_answers_or_a_sentence_says_why_not(
    written: Write, work: str | None, said: CodeAnswer | str
) -> None:
    """With the number of a choice and the figure that shows it."""
    answer = answer_of(written(PREDICTION), work)
    assert said in answer if isinstance(answer, str) else answer == said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"scores",\n    N_', '"score",\n    N_', "there is no exercise score in the assignment"),
        (', N_("it grows four times")', "", "scores has 2 choices; 3 to 5 are needed"),
        ('N_("it doubles")', 'N_("nothing")', "two choices of scores are the same"),
        (
            "\n@pred",
            "\nTWICE = prediction('scores', '', choices='abc', right=1, why='')(0)\n\n\n@pred",
            "scores has 2 predictions; one is allowed",
        ),
        ("import torch", "import torsh", "ModuleNotFoundError: No module named 'torsh'"),
    ],
    ids=["no exercise", "few choices", "same choices", "two", "does not load"],
)
def test_what_is_declared_wrong_is_told(written: Write, old: str, new: str, said: str) -> None:
    """With the file that it is in."""
    course = written(PREDICTION.replace(old, new))
    with pytest.raises(CourseError) as caught:
        load_predictions(course, [ID])
    assert caught.value.problems == (f"{PATH}: {said}",)


def test_which_exercises_have_one_is_read_without_running_anything(written: Write) -> None:
    """Also from a file that does not load; a course needs none."""
    course = written(PREDICTION.replace("import torch", "import torsh"))
    assert predicted_ids(course) == (ID,)
    assert predicted(written("def ("), course.assignments[0]) == ()
    (course.root / PATH).unlink()
    assert predicted_ids(course) == ()
    assert load_predictions(course, [ID]) == {}


def test_students_get_the_file_and_notebooks_a_cell_before_the_exercise(written: Write) -> None:
    """The `.py` says nothing of it."""
    course = written(PREDICTION)
    assert PATH in [file.path for file in check_files(course, course.assignments)]
    stub, notebook, *_others = generate(course)
    cells = json.loads(notebook.text)["cells"]
    ids = [cell["id"] for cell in cells]
    assert ids.index("predict_scores") + 1 == ids.index("scores")
    (cell,) = (cell for cell in cells if cell["id"] == "predict_scores")
    assert cell["metadata"] == {"tags": ["prediction"]}
    assert "".join(cell["source"]).endswith('predict("01_scores/scores", answer=None)')
    assert "predict" not in stub.text
