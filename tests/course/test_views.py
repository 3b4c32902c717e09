"""The course's views: right code gives each something to see, and their sentences hold."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from grader.core.views import HeatMap, ViewResult
from grader.course.course import Course, load_course
from grader.judging.fixtures import CheckEnvironment, live_environment, read_solutions
from grader.judging.views import ViewRun, Views, load_views
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission, read_submission
from grader.testing.lookup import SubmissionHandle

TWELVE = "one two three four five six seven eight nine ten eleven twelve"

ROWS_SUM_TO_1 = (
    "softmax_stable",
    "attention_weights",
    "scaled_weights",
    "SelfAttention_v2",
    "causal_weights",
    "MultiHeadAttention",
    "GroupedQueryAttention",
)
"""Exercises of whose views the rows of every heat map sum to 1."""

CAUSAL = (
    "causal_weights",
    "CausalAttention",
    "MultiHeadAttentionWrapper",
    "09_multi_head_attention",
    "GroupedQueryAttention",
)


@pytest.fixture(scope="module")
def course(root: Path) -> Course:
    """The course."""
    return load_course(root)


@pytest.fixture(scope="module")
def views(course: Course) -> Views:
    """All of its views."""
    return load_views(course, course.exercises)


@pytest.fixture(scope="module")
def environment(course: Course) -> Iterator[CheckEnvironment]:
    """The solutions, to ask for what classes take."""
    made = live_environment(course, "visible")
    yield made
    made.close()


Show = Callable[[Submission, str | None], list[ViewResult]]


@pytest.fixture(scope="module")
def show(course: Course, views: Views, environment: CheckEnvironment) -> Show:
    """What all views show of some work."""

    def run(work: Submission, words: str | None = None) -> list[ViewResult]:
        handle = SubmissionHandle(work, InProcessSession(work), course.limits, course.assignments)
        assert views.example is not None
        return list(map(ViewRun(environment, handle, views.example.text(words)).run, views.views))

    return run


def numbers(one: HeatMap) -> torch.Tensor:
    """The values of a heat map."""
    return torch.tensor([[float(value) for value in row] for row in one.values])


def test_every_assignment_has_a_view(course: Course, views: Views) -> None:
    """There is something to see in each; the mask of 15 is that of 13, and shown there."""
    found = {one.exercise.assignment for one in views.views}
    assert found == set(course.by_id) - {"15_cache"}


def test_every_view_asks_a_question(views: Views) -> None:
    """And says in a sentence what to look for."""
    for one in views.views:
        assert one.view.ask.endswith("?"), one.view.title
        assert one.view.look.endswith((".", ".)")), one.view.title


def test_the_example_is_the_documents(environment: CheckEnvironment, views: Views) -> None:
    """Its vectors are the printed ones."""
    assert views.example is not None
    assert torch.equal(views.example.text().vectors, environment.ledger("T45").tensor)


@pytest.mark.parametrize("words", [None, "alone", TWELVE])
def test_the_solution_shows_what_the_sentences_say(
    course: Course, show: Show, words: str | None
) -> None:
    """For the example, for a single word and for twelve: rows sum to 1, nothing is ahead."""
    shown = show(read_solutions(course), words)
    assert [result.problem for result in shown if result.problem] == []
    for result in shown:
        maps = [one for state in result.states for one in state if len(one.columns.labels) > 1]
        _assignment, name = result.exercise.split("/")
        if name in ROWS_SUM_TO_1:
            sums = [numbers(one).sum(dim=1) for one in maps]
            assert all(torch.allclose(each, torch.ones(len(each)), atol=1e-5) for each in sums)
        if result.exercise.split("/")[0] in CAUSAL or name in CAUSAL:
            ahead = [numbers(one).triu(diagonal=1) for one in maps]
            assert not any(bool(each.any()) for each in ahead), result.exercise
    mirrored = next(one for one in shown if one.exercise.endswith("attention_scores_matmul"))
    table = numbers(mirrored.states[0][0])
    assert torch.allclose(table, table.T)


def test_the_weights_inside_a_layer_are_the_documents(
    course: Course, show: Show, environment: CheckEnvironment
) -> None:
    """What the layer of seed 789 returns is what the next assignment begins with."""
    by_exercise = {one.exercise.partition("/")[2]: one for one in show(read_solutions(course))}
    weights = numbers(by_exercise["causal_weights"].states[0][0])
    printed = environment.ledger("T21")
    assert torch.allclose(weights, printed.tensor, rtol=0, atol=printed.atol)
    inside = numbers(by_exercise["SelfAttention_v2"].states[0][0])
    assert torch.allclose(inside[-1], printed.tensor[-1], rtol=0, atol=printed.atol)


def test_a_stub_says_that_it_is_not_written(course: Course, show: Show) -> None:
    """A plain sentence, and no picture."""
    for result in show(read_submission(course, course.work_folder, "me")):
        assert result.states == ()
        assert "not attempted yet" in result.problem or "not written yet" in result.problem


def test_no_view_is_of_the_wrong_words(views: Views) -> None:
    """What speaks of words shows the text's."""
    assert [one.exercise.name for one in views.views if not one.is_about_text] == [
        "GPT2MultiHeadAttention",
        "head_weights",
        "gelu",
        "next_token",
    ]
