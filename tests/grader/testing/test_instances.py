"""An instance is made with what is asked of it first: in fewer requests, with the same results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.core.language import N_
from grader.core.records import Visibility
from grader.course.course import Limits
from grader.judging.fixtures import Fixtures
from grader.judging.run import Check
from grader.sandbox.together import TOGETHER
from grader.sandbox.wire import Frame
from grader.sessions.base import Session, failed
from grader.testing import Attempt, Judge
from grader.testing.judge import Mismatch
from grader.testing.lookup import SubmissionHandle
from grader.testing.roles import Roles
from grader.testing.student import ReferenceHandle, StudentHandle, StudentOutcome
from tests.grader.conftest import EXERCISE

HandIn = Callable[..., StudentHandle]

LAYER = """\
import torch
from torch import nn


class one(nn.Module):
    def __init__(self, size):
        super().__init__()
        print("made")
        self.W_query = nn.Parameter(torch.rand(size, size))

    def forward(self, x):
        print("called")
        return x @ self.W_query


def two(x):
    print("two")
    return x
"""
OTHER_NAME = LAYER.replace("W_query", "Wq")
OTHER_SHAPE = LAYER.replace("rand(size, size)", "rand(size, 3)")
MORE = LAYER.replace(
    "        self.W", "        self.more = nn.Parameter(torch.ones(1))\n        self.W"
)
PLAIN = LAYER.replace("nn.Parameter(torch.rand(size, size))", "torch.rand(size, size)")
LAZY = LAYER.replace("        self.W", "        self.lazy = nn.LazyLinear(2)\n        self.W")
FAILING = LAYER.replace('print("made")', 'raise ValueError("no")')
FAILING_LATER = LAYER.replace('print("called")', 'raise ValueError("no")')
FAILING_STATE = f"""{LAYER}

def named_parameters(self, *args, **kwargs):
    raise KeyError("no parameters")


one.named_parameters = named_parameters
"""
NO_INSTANCE = "def one(size):\n    return size\n"
ENDING = LAYER.replace('print("made")', "import os; os._exit(3)")
ENDING_LATER = LAYER.replace('print("called")', "import os; os._exit(3)")
STUB = LAYER.replace('print("called")', 'raise NotImplementedError("01_first/one")')

VALUES = {"W_query": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}
X = torch.tensor([[1.0, 2.0]])
ROLES = Roles({"query": ("q", "query", "wq"), "value": ("v",)})
WRONG = N_("It is wrong")


@dataclass
class Heard(Session):
    """Passes requests on, and keeps their verbs; each may be answered otherwise."""

    inner: Session
    verbs: list[str] = field(default_factory=list)
    otherwise: Callable[[Frame], Frame | None] = lambda frame: None

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """Pass on."""
        self.verbs.append(frame.header["verb"])
        return self.otherwise(frame) or self.inner.ask(frame, seconds)


def attempt_of(student: StudentHandle) -> Attempt:
    """What a check holds of a student's file; the solution is the same."""
    student.roles = ROLES
    student.submission.session = Heard(student.submission.session)
    reference = ReferenceHandle(student.submission, student.exercise)
    judge = Judge(student.calls, held=student.held, settle=student.submission.settle)
    return Attempt(student, reference, judge, student.exercise.name)


def verbs(attempt: Attempt) -> list[str]:
    """What was asked so far; loading the file aside."""
    session: Any = attempt.student.submission.session
    return [verb for verb in session.verbs if verb != "open"]


@pytest.fixture
def attempt(hand_in: HandIn) -> Attempt:
    """A right layer."""
    return attempt_of(hand_in(LAYER))


# How many requests.


def test_making_giving_values_and_calling_are_one_request(attempt: Attempt) -> None:
    """With the values in place when it is called; what is asked later is a request of its own."""
    layer = attempt.instance(2, given=VALUES)
    assert layer(X).value.tolist() == [[7.0, 10.0]]
    assert torch.equal(layer.state.parameters["W_query"], VALUES["W_query"])
    layer(X)
    assert layer.refusal(X) is None
    assert verbs(attempt) == [TOGETHER, "state", "call", "call"]


def test_what_it_holds_comes_with_it(attempt: Attempt) -> None:
    """And one without values of which nothing is asked is made by itself."""
    layer = attempt.instance(2, given=VALUES)
    assert torch.equal(layer.state.parameters["W_query"], VALUES["W_query"])
    assert verbs(attempt) == [TOGETHER]
    assert attempt.instance(2).own.type_name == "one"
    assert verbs(attempt) == [TOGETHER, "call"]


def test_a_refusal_comes_with_it(hand_in: HandIn) -> None:
    """That of a call, not that of the class."""
    attempt = attempt_of(hand_in(FAILING_LATER))
    failure = attempt.instance(2).refusal(X)
    assert failure is not None
    assert (failure.message, verbs(attempt)) == ("no", [TOGETHER])
    with pytest.raises(StudentOutcome):
        attempt_of(hand_in(FAILING)).instance(2).refusal(X)


# The order of a check.


def test_anything_else_that_is_asked_makes_it_first(attempt: Attempt) -> None:
    """Another instance, another function, a constant, another handle on the same file."""
    student = attempt.student
    for ask in (
        lambda: attempt.instance(3),
        lambda: student.call("two", 1),
        lambda: student.refusal("two", 1),
        lambda: student.parameters("two"),
        lambda: student.get("two"),
        lambda: student.aside().call("two", 1),
    ):
        layer = attempt.instance(2)
        before = len(student.calls)
        ask()
        assert student.calls[before].target == "one"
        assert layer.made is not None


@pytest.mark.parametrize(
    "way",
    [
        lambda judge: judge(1, 2),
        lambda judge: judge.shape(1, (2,)),
        lambda judge: judge.that(False, WRONG),
    ],
)
def test_it_is_made_before_anything_is_judged(
    hand_in: HandIn, way: Callable[[Judge], None]
) -> None:
    """So that what is wrong with the class is what the check ends in."""
    attempt = attempt_of(hand_in(FAILING))
    attempt.instance(2)
    with pytest.raises(StudentOutcome, match="no"):
        way(attempt.judge)


@pytest.mark.parametrize(("own", "passes"), [(LAYER, True), (FAILING, False)])
def test_a_check_that_only_makes_it_ends_in_what_that_ends_in(
    hand_in: HandIn, own: str, passes: bool
) -> None:
    """It is made when the check returns, at the latest."""
    attempt = attempt_of(hand_in(own))
    check = Check(
        *("01_first/one::visible::test_it", EXERCISE, Visibility.VISIBLE, "It is made.", 1),
        *(False, False, False, object),
        function=lambda _owner, attempt: attempt.instance(2),
        asks_for=("attempt",),
    )
    parts: list[Any] = [attempt.student, attempt.reference, attempt.judge, None, None]
    environment: Any = SimpleNamespace(course=SimpleNamespace(limits=Limits()), overdue=set())
    record = check.run(Fixtures(*parts), environment)
    assert (record.raised is None) == passes
    assert [call.target for call in attempt.student.calls] == ["one"]


def test_a_class_that_fails_is_told_each_time_it_is_used(hand_in: HandIn) -> None:
    """Also where a check went on after the first time; it is not made again."""
    attempt = attempt_of(hand_in(FAILING))
    layer = attempt.instance(2, given=VALUES)
    with pytest.raises(StudentOutcome):
        attempt.student.call("two", 1)
    for use in (lambda: layer.own, lambda: layer.problems, lambda: layer.state, lambda: layer(X)):
        with pytest.raises(StudentOutcome, match="no"):
            use()
    assert verbs(attempt) == [TOGETHER]


def test_values_that_are_not_taken_are_judged_before_anything_else(hand_in: HandIn) -> None:
    """With the request that made it as the last one."""
    attempt = attempt_of(hand_in(OTHER_SHAPE))

    def judged(problems: Any) -> None:
        attempt.judge(problems, {}, what="the parameters found")

    layer = attempt.instance(2, given=VALUES, on_made=judged)
    with pytest.raises(Mismatch) as caught:
        layer(X)
    assert attempt.judge.judged == [{"W_query": "wrong shape (2, 3)"}]
    assert [call.target for call in caught.value.calls] == ["one"]


# The same as one by one.


def told(attempt: Attempt, last: str, ask: Callable[[Attempt, str], Any]) -> str:
    """What a check knows after it asked."""
    student = attempt.student
    try:
        end = ask(attempt, last)
    except StudentOutcome as outcome:
        end = outcome.failure, outcome.calls
    calls = [(call, call.given.keys()) for call in student.calls]
    kept = student.answers, student.outputs, student.held, student.drew
    return str((end, calls, kept, sorted(student.not_taken), student.renamed))


def at_once(attempt: Attempt, last: str) -> Any:
    """Ask as an attempt does."""
    layer = attempt.instance(2, given=VALUES, spare={"bias": torch.zeros(2)})
    return layer.state if last == "state" else layer.asked(X, cotangent=X, seed=1)


def one_by_one(attempt: Attempt, last: str) -> Any:
    """Ask the same of a handle."""
    student = attempt.student
    made = student.call("one", 2).value
    student.load(made, {"bias": torch.zeros(2), **VALUES})
    return student.state(made) if last == "state" else student.call(made, X, cotangent=X, seed=1)


@pytest.mark.parametrize("last", ["state", "call"])
@pytest.mark.parametrize(
    "own",
    [
        *(LAYER, OTHER_NAME, OTHER_SHAPE, MORE, PLAIN, LAZY, FAILING, FAILING_LATER),
        *(FAILING_STATE, NO_INSTANCE, STUB),
    ],
)
def test_all_that_a_check_knows_is_the_same_as_one_by_one(
    hand_in: HandIn, own: str, last: str
) -> None:
    """Values, failures, requests, what was printed, names of parameters, what took no value."""
    both = []
    for ask in (at_once, one_by_one):
        torch.manual_seed(0)
        attempt = attempt_of(hand_in(own))
        both.append(told(attempt, last, ask))
    assert both[0] == both[1]


def test_another_name_takes_its_value_before_the_call(hand_in: HandIn) -> None:
    """By a request of its own, as the call is one then."""
    attempt = attempt_of(hand_in(OTHER_NAME))
    assert attempt.instance(2, given=VALUES)(X).value.tolist() == [[7.0, 10.0]]
    assert verbs(attempt) == [TOGETHER, "load", "call"]


def test_what_is_printed_is_told_request_by_request(talk_to: Any) -> None:
    """As one by one: what the class prints is not of the call that returns nothing."""
    session = talk_to(LAYER.replace("return x @ self.W_query", "return None")).session
    handle = SubmissionHandle(session.submission, session, Limits())
    attempt = attempt_of(StudentHandle(handle, EXERCISE))
    answer = attempt.instance(2, given=VALUES)(X).answer
    assert verbs(attempt) == [TOGETHER]
    assert attempt.student.outputs == ["made\n", "called\n"]
    assert (answer.printed, attempt.student.calls[-1].printed) == ("called\n", "called\n")


def ended(talk_to: Any, own: str, ask: Callable[[Attempt, str], Any]) -> tuple[Attempt, Any]:
    """A layer in a process that ends: the failure, what is told, how many processes."""
    session = talk_to(own, request_seconds=0.5 if "while True" in own else 10).session
    handle = SubmissionHandle(session.submission, session, session.limits)
    attempt = attempt_of(StudentHandle(handle, EXERCISE))
    with pytest.raises(StudentOutcome) as caught:
        ask(attempt, "call")
    told = [(call.target, call.is_forward, call.args) for call in caught.value.calls]
    return attempt, (caught.value.failure, str(told), session.generation)


@pytest.mark.parametrize("own", [ENDING, ENDING_LATER])
def test_where_a_process_ends_is_found_out_one_by_one(talk_to: Any, own: str) -> None:
    """The request that ended it is the last one that is told."""
    both = [ended(talk_to, own, ask)[1] for ask in (at_once, one_by_one)]
    assert both[0][:2] == both[1][:2]
    assert both[0][0].kind == "crashed"


@pytest.mark.parametrize("where", [pytest.param("made", marks=pytest.mark.proof), "called"])
def test_an_endless_loop_is_run_once(talk_to: Any, where: str) -> None:
    """It is told where it is, as one by one, and takes the time of one request."""
    own = LAYER.replace(f'print("{where}")', "while True: pass")
    attempt, at_once_ = ended(talk_to, own, at_once)
    assert verbs(attempt) == [TOGETHER]
    assert at_once_ == ended(talk_to, own, one_by_one)[1]
    assert at_once_[0].kind == "timeout"


# Processes that do not keep to the rules.


@pytest.mark.parametrize(
    "reply",
    [
        *(Frame({}), Frame({"parts": 3}), Frame({"parts": [[{}, 10]]}), Frame({"parts": []})),
        failed("timeout", "too slow"),
    ],
)
def test_a_reply_that_cannot_be_read_is_asked_for_one_by_one(
    attempt: Attempt, reply: Frame
) -> None:
    """It counts for nothing."""
    session: Any = attempt.student.submission.session
    session.otherwise = lambda frame: reply if frame.header["verb"] == TOGETHER else None
    assert attempt.instance(2, given=VALUES)(X).value.tolist() == [[7.0, 10.0]]
    assert verbs(attempt) == [TOGETHER, "call", "load", "call"]


def test_replies_beyond_those_asked_for_are_left(attempt: Attempt) -> None:
    """Nothing that a process adds is taken for the reply to a later request."""
    session: Any = attempt.student.submission.session
    extra: list[Any] = [[{"value": 5}, 0]] * 3

    def more(frame: Frame) -> Frame | None:
        if frame.header["verb"] != TOGETHER:
            return None
        reply = session.inner.ask(frame, 1.0)
        parts = [*reply.header["parts"], *extra]
        return Frame({**reply.header, "parts": parts}, reply.payload)

    session.otherwise = more
    layer = attempt.instance(2, given=VALUES)
    assert layer(X).value.tolist() == [[7.0, 10.0]]
    assert layer(X).value.tolist() == [[7.0, 10.0]]
