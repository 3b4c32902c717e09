"""What is judged beside wrong parts of the student's own."""

from types import SimpleNamespace
from typing import Any

import pytest

from grader.core.records import CheckResult, Finding, Mistake, Outcome, Visibility
from grader.judging.exercise_judge import Judgement, with_right_parts

FAILED = CheckResult(
    "a/Layer::visible::t", "It works.", Visibility.VISIBLE, 1, Outcome.FAILED, "", 0.0
)
NAMED = Finding((Mistake("keys-ask", "Keys ask.", "Who asks?"),))


@pytest.mark.parametrize(("is_used", "findings"), [(True, ()), (False, (NAMED,))])
def test_where_nothing_can_be_asked_what_a_wrong_part_may_have_done_has_no_name(
    is_used: bool, findings: tuple[Finding, ...]
) -> None:
    """The part's mistake is told there; a layer that does not use the part has its own."""
    part = SimpleNamespace(id="a/scores", name="scores")
    course = SimpleNamespace(exercises={"a/scores": part}, has_solutions=False)
    submission = SimpleNamespace(
        judged={"a/scores": SimpleNamespace(is_attempted=True, is_right=False)},
        uses=lambda _exercise, _name: is_used,
    )
    environment = SimpleNamespace(course=course, reference=None)
    run: Any = SimpleNamespace(environment=environment, submission=submission)
    exercise: Any = SimpleNamespace(id="a/Layer", name="Layer")
    first = Judgement((FAILED,), {}, (NAMED,))
    made = with_right_parts(run, exercise, first, ["a/scores"], lambda _records: ())
    assert made.findings == findings
    assert made.to_judge_with == ("scores",) * is_used
