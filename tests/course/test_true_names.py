"""Wrong answers of real students: what they are named, and what they are not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.records import ExerciseResult, Visibility
from grader.course.course import Course, load_course
from grader.grading.known_mistakes import LiveMistakes
from grader.grading.submission_grader import (
    ALL_CHECKS,
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.sessions.in_process import InProcessSession
from grader.submissions.notebooks import Cell

Answer = Callable[..., ExerciseResult]

SCORES = "return inputs @ query"
MERGED = "return pieces.reshape(batch_size, num_tokens, num_heads * head_dim)"
HEAD_SCORES = "return queries @ keys.transpose(2, 3)"
EXPONENTIALS = "exponentials = torch.exp(x - x.max())"


def told(result: ExerciseResult) -> list[str]:
    """The lines that a student reads."""
    return [line for check in result.checks for line in check.message.splitlines()]


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course itself."""
    return load_course(root)


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[SubmissionGrader]:
    """What students check with."""
    made = visible_grader(course)
    yield made
    made.close()


@pytest.fixture
def answer(course: Course, grader: SubmissionGrader) -> Answer:
    """Grades the solution of an exercise in which a piece of text is replaced."""

    def graded(exercise: str, find: str, put: str, hidden: bool = False) -> ExerciseResult:
        (id_, found), *_others = course.select((exercise,)).items()
        assert isinstance(grader.mistakes, LiveMistakes)
        solutions = grader.mistakes.solutions
        key = solutions.readings[found.assignment].sources[0]
        text = solutions.sources[key].cells[0].text
        assert find in text
        changed = replace(solutions.sources[key], cells=(Cell(None, text.replace(find, put)),))
        submission = replace(solutions, sources={**solutions.sources, key: changed})
        session, scope = InProcessSession(submission), ALL_CHECKS if hidden else VISIBLE_CHECKS
        result = grade(grader, submission, session, Scope({id_: found}, scope))
        return result.exercises[0]

    return graded


@pytest.mark.parametrize(
    ("exercise", "find", "put"),
    [
        ("attention_scores", SCORES, "return torch.dot(query, inputs)"),
        ("attention_scores", SCORES, "return inputs @ query[None]"),
        (
            "merge_heads",
            MERGED,
            "return pieces.reshape(batch_size, num_tokens, num_heads + head_dim)",
        ),
        ("head_scores", HEAD_SCORES, "return queries @ keys"),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x - x[0])"),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x) * torch.nan"),
    ],
    ids=["dot", "row", "sum of sizes", "not transposed", "first subtracted", "NaN"],
)
def test_an_exception_or_nan_of_another_cause_is_given_no_name(
    answer: Answer, exercise: str, find: str, put: str
) -> None:
    """The operation, or the shapes, or the finite values are not those of a known mistake."""
    result = answer(exercise, find, put)
    assert not result.is_solved
    assert result.findings == ()


@pytest.mark.parametrize(
    ("exercise", "find", "put", "name"),
    [
        ("attention_scores", SCORES, "return torch.matmul(query, inputs)", "query-meets-columns"),
        ("merge_heads", MERGED, MERGED.replace("reshape", "view"), "view-of-swapped-axes"),
        (
            *("head_scores", HEAD_SCORES, "return queries @ keys.swapaxes(1, 2)"),
            "head-scores-wrong-axes-swapped",
        ),
        ("softmax_stable", EXPONENTIALS, "exponentials = torch.exp(x)", "nothing-subtracted"),
    ],
)
def test_an_exception_or_nan_of_a_known_mistake_is_named(
    answer: Answer, exercise: str, find: str, put: str, name: str
) -> None:
    """However it is written."""
    assert answer(exercise, find, put).misconceptions == (name,)


CONFIG = '"context_length": 1024'


@pytest.mark.parametrize(
    ("exercise", "find", "put", "sentence"),
    [
        (
            *("SelfAttention_v1", "x @ self.W_query", "x @ W_query"),
            "Did you mean self.W_query when you wrote W_query?",
        ),
        (
            *("SelfAttention_v1", "self.W_query", "self.Wq"),
            "You have Wq; the exercise calls it W_query.",
        ),
        (
            *("GPT2_CONFIG", CONFIG, CONFIG.replace("length", "lenght")),
            "Did you mean context_length when you wrote context_lenght?",
        ),
        ("dot_product", "(a * b).sum()", "np.dot(a, b)", "Is `import numpy as np` missing?"),
    ],
    ids=["self", "parameter", "key", "import"],
)
def test_a_slip_in_a_name_is_answered_with_the_right_one(
    answer: Answer, exercise: str, find: str, put: str, sentence: str
) -> None:
    """Whatever the version of Python."""
    assert sentence in told(answer(exercise, find, put))


def test_inputs_are_called_by_their_names(answer: Answer) -> None:
    """The student's own constants, with the line as an editor opens it."""
    lines = told(answer("attention_scores", SCORES, "return torch.dot(query, inputs)"))
    assert lines[0] == "attention_scores(INPUTS[1], INPUTS)"
    assert lines[2].startswith("  at 01_simple_attention/simple_attention.py:")


def test_the_inputs_of_hidden_checks_are_not_written_down(answer: Answer) -> None:
    """Neither by name nor as the line that draws them."""
    result = answer("attention_scores", SCORES, "return inputs @ query * 2", hidden=True)
    hidden = [c.message for c in result.checks if c.visibility is Visibility.HIDDEN and c.message]
    assert hidden
    assert not [m for m in hidden if "INPUTS" in m or "x1" in m or "manual_seed" in m]
