"""Tests of how a check becomes a trace: what an exception says, and whether a value is evidence."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.core.records import Finding, Mistake
from grader.judging.diagnosis import Known
from grader.judging.known_mistakes import RecordedMistakes, findings, trace, traces
from grader.testing.compare import Difference
from grader.testing.judge import Mismatch
from grader.testing.replies import Failure
from grader.testing.student import StudentOutcome

NAN = math.nan


def trace_of(error: BaseException | None) -> Any:
    """The trace of a check that ended in this way."""
    record: Any = SimpleNamespace(raised=error, judged=[], is_evidence=True, replied=())
    return trace(record)


def mismatch(actual: Any, expected: Any) -> Mismatch:
    """What the judge raises."""
    return Mismatch(Difference("", expected, actual, ""), ())


def test_an_exception_is_told_by_its_type_and_message() -> None:
    """Torch's messages name the operation and the shapes; addresses differ from run to run."""
    message = "mat1 and mat2 shapes cannot be multiplied (6x3 and 1x3)"
    failure = Failure("exception", "RuntimeError", ("RuntimeError",), message, own=True)
    assert trace_of(StudentOutcome(failure, ())).end == f"exception own RuntimeError: {message}"
    failure = Failure("exception", "TypeError", message="<f at 0x7f22> is no tensor")
    below = "exception below TypeError: <f at 0x> is no tensor"
    assert trace_of(StudentOutcome(failure, ())).end == below
    late = StudentOutcome(Failure("timeout", message="out of time"), ())
    assert trace_of(late).end == "timeout below"


@pytest.mark.parametrize(
    ("actual", "expected", "is_evidence"),
    [
        (torch.tensor([NAN, NAN]), torch.tensor([0.5, 0.5]), False),
        (torch.tensor([NAN, 0.5]), torch.tensor([0.5, 0.5]), False),
        (torch.tensor([NAN, 0.4]), torch.tensor([0.5, 0.5]), True),
        (torch.tensor([NAN, -math.inf]), torch.tensor([0.5, -math.inf]), False),
        (torch.tensor([0.5, 0.5]), torch.tensor([0.5, -math.inf]), True),
        (torch.tensor([NAN, NAN]), torch.tensor(0.5), False),
        (torch.ones(0), torch.ones(2), True),
        (NAN, 0.5, False),
        (0.4, 0.5, True),
        (None, torch.ones(2), True),
    ],
)
def test_only_a_finite_value_that_differs_is_evidence(
    actual: Any, expected: Any, is_evidence: bool
) -> None:
    """NaN and infinities have too many causes."""
    assert trace_of(mismatch(actual, expected)).is_evidence is is_evidence


def test_a_check_that_breaks_says_nothing_of_the_others() -> None:
    """Known mistakes are recognised by those that ran to their end."""

    def ended(name: str, error: BaseException | None) -> Any:
        check = SimpleNamespace(id=name, is_remark=False, exercise=SimpleNamespace(id="one"))
        more: dict[str, Any] = {"not_taken": frozenset(), "is_slip": False, "is_evidence": True}
        came = {"judged": [torch.ones(2)], "replied": ()}
        return SimpleNamespace(check=check, raised=error, **came, **more)

    wrong = ended("wrong", mismatch(torch.ones(2), torch.zeros(2)))
    broken = ended("broken", RuntimeError("it broke"))
    mistake = Mistake("ones", "There are ones.", "Why?")
    known = Known((mistake,), traces([wrong, ended("broken", None)]))
    mistakes = RecordedMistakes({"one": ([known], [])})
    records = {record.check.id: record for record in (wrong, broken)}
    checks: Any = tuple(record.check for record in records.values())
    assert findings(mistakes, checks, records) == (Finding((mistake,)),)
