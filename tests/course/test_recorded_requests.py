"""What a visible check asks of the solution does not depend on the student's answer.

A students' copy has the replies to what was asked where the answer was right, in that order.
"""

from collections.abc import Iterable

import pytest
import torch

from grader.core.errors import CourseError
from grader.core.records import Visibility
from grader.course.course import Course, load_course
from grader.course.misconceptions import edited, read_misconceptions
from grader.course.printed_tensors import Ledger
from grader.judging.collect import collect
from grader.judging.fixtures import CheckEnvironment, read_solutions
from grader.judging.known_mistakes import LiveMistakes
from grader.release.recorder import record
from grader.sessions.in_process import InProcessSession
from grader.sessions.reference_sessions import RecordingSession
from grader.testing.lookup import SubmissionHandle
from tests.course.conftest import Example

pytestmark = pytest.mark.slow

LAYERS = ("09_multi_head_attention/MultiHeadAttention", "11_gpt2_attention/GPT2MultiHeadAttention")
VIEWED = "-viewed-without-transposing"
DROPPED_SCORES = ("torch.softmax(scores", "torch.softmax(self.dropout(scores)")


def asked_otherwise(course: Course, id_: str, texts: Iterable[str]) -> list[str]:
    """The visible checks of an exercise that ask something else of the solution than with itself.

    Args:
        course: the course.
        id_: the exercise.
        texts: its file as students might write it.
    """
    torch.set_num_threads(1)
    solutions = read_solutions(course)
    session = RecordingSession(InProcessSession(solutions))
    reference = SubmissionHandle(solutions, session, course.limits)
    environment = CheckEnvironment(
        course, Ledger(course.root, course.ledger), reference, session, ""
    )
    mistakes, exercise = LiveMistakes(environment), course.exercises[id_]
    checks = collect(course, (id_,), (Visibility.VISIBLE,))

    def asked(text: str) -> dict[str, list[str]]:
        made = mistakes.with_text(exercise, text)
        session.transcripts.clear()
        mistakes.run(made, exercise, checks, InProcessSession(made))
        environment.overdue.clear()
        return {
            check: [shape for shape, _reply in transcript]
            for check, transcript in session.transcripts.items()
        }

    right = asked(mistakes.source(exercise).cells[0].text)
    return [
        f"{check}: {text}"
        for text in texts
        for check, shapes in asked(text).items()
        if shapes != right[check][: len(shapes)]
    ]


@pytest.mark.parametrize("id_", LAYERS)
def test_a_wrong_answer_leads_to_no_other_request(course: Course, id_: str) -> None:
    """Heads that are cut wrongly, and scores that are dropped."""
    exercise = course.exercises[id_]
    assignment = course.by_id[exercise.assignment]
    text = course.paths(assignment).solution.read_text("utf-8")
    known = [m for m in read_misconceptions(course, assignment) if m.exercise == id_]
    viewed = [edited(text, one) or text for one in known if one.id.endswith(VIEWED)]
    texts = {*viewed, text.replace(*DROPPED_SCORES)}
    assert len(texts - {text}) == 2
    assert asked_otherwise(course, id_, texts) == []


@pytest.mark.long
@pytest.mark.proof
def test_no_mutant_leads_to_another_request(course: Course) -> None:
    """A tenth of them; known mistakes, one and two at a time, are tried by each release itself."""
    from grader.extras.mutants.edits import mutants  # which takes half a second to import

    for id_, exercise in course.exercises.items():
        texts = (mutant.text for mutant in [*mutants(course, exercise)][::10])
        assert asked_otherwise(course, id_, texts) == []


def test_a_release_refuses_a_check_that_asks_more_of_a_wrong_answer(example: Example) -> None:
    """Its recording would lack the reply."""
    path = "tests/checks/01_scores/test_visible.py"
    name = "test_the_scores_as_printed(self, student, "
    example.edit(path, name, f"{name}reference, ")
    example.edit(
        path,
        "        judge(value, SCORES",
        "        if (value - SCORES).abs().max() > 0.1:\n"
        '            reference.call("scores", value, value)\n'
        "        judge(value, SCORES",
    )
    course = load_course(example.folder)
    with pytest.raises(CourseError) as caught:
        record(course, course.assignments[0])
    check = "01_scores/scores::visible::test_the_scores_as_printed"
    assert str(caught.value) == (
        f"{check}: with scores-not-scaled it breaks; it has to ask the reference the same in the same "
        "order, whatever the answer is"
    )
