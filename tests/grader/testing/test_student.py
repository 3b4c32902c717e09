"""Tests of the student handle: four verbs in, plain data out, and every failure an outcome."""

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.core.errors import GraderFault
from grader.core.records import Outcome
from grader.course.course import Course, Exercise, Limits
from grader.judging.messages import explain_failure
from grader.sandbox.failures import CodeLine
from grader.sandbox.kinds import EnumMember, Record
from grader.sandbox.wire import RemoteObject
from grader.sessions.in_process import InProcessSession
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission, read_submission
from grader.testing.judge import NO_GRADIENT, Judge, Mismatch
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure, Loaded
from grader.testing.student import Call, ReferenceHandle, StudentHandle, StudentOutcome

HandIn = Callable[..., StudentHandle]

LAYER = """\
import torch
from torch import nn

CONFIG = {"d_in": 2, "bias": False}


class one(nn.Module):
    def __init__(self, d_in, d_out=1):
        super().__init__()
        self.W = nn.Parameter(torch.ones(d_in, d_out))
        self.register_buffer("mask", torch.zeros(2))
        self.cache = torch.ones(1)

    def forward(self, x, scale=1.0):
        print("forward")
        x += 1
        return scale * (x @ self.W)


def fail(message):
    raise KeyError(message)
"""


STUB = 'def one():\n    raise NotImplementedError("01_first/one: not attempted yet")\n'


def failure_of(request: Callable[[], object]) -> Failure:
    """The failure that a request ends in."""
    with pytest.raises(StudentOutcome) as caught:
        request()
    return caught.value.failure


def student_of(*sources: SourceFile) -> StudentHandle:
    """A handle on a submission of these files."""
    files = {source.key: source for source in sources}
    submission = Submission("x", files, {"01_first": Reading(tuple(files))})
    handle = SubmissionHandle(submission, InProcessSession(submission), Limits())
    return StudentHandle(handle, Exercise("01_first", "one", 1))


def test_get_returns_a_constant_or_what_kind_of_thing_a_name_is(hand_in: HandIn) -> None:
    """Values are plain data; classes and functions stay where they are."""
    student = hand_in(LAYER)
    assert [student.get(name) for name in ("CONFIG", "one", "fail")] == [
        {"d_in": 2, "bias": False},
        RemoteObject(0, "class", "one"),
        RemoteObject(0, "function", "fail"),
    ]


def test_call_makes_an_instance_and_runs_its_forward(hand_in: HandIn) -> None:
    """The result has its value, changes in place, gradients and prints; here nothing changes."""
    student, x = hand_in(LAYER), torch.tensor([[1.0, 2.0]])
    instance = student.call("one", 2, d_out=1).value
    answer = student.call(instance, x, scale=2.0, cotangent=torch.tensor([[1.0]]))
    assert (x.tolist(), answer.value.tolist()) == ([[1.0, 2.0]], [[10.0]])
    assert (answer.changed, answer.printed) == (("0",), "forward\n")
    gradients: Any = answer.gradients
    assert gradients.parameters["W"].tolist() == [[4.0], [6.0]]
    assert gradients.arguments["0"].tolist() == [[2.0, 2.0]]


def test_operations_and_parameters_are_told_where_asked_for(hand_in: HandIn) -> None:
    """What the call did in torch, and what the student calls the parameters."""
    student = hand_in("def one(x, scale=1):\n    return x.exp() * scale\n")
    assert student.call("one", torch.ones(2)).operations == {}
    assert student.call("one", torch.ones(2), operations=True).operations == {"exp": 1, "mul": 1}
    assert student.parameters("one") == ["x", "scale"]


def test_a_gradient_that_does_not_arrive_is_told_what_stops_gradients(hand_in: HandIn) -> None:
    """Another value that is missing is not."""
    student = hand_in("def one(x):\n    return x.detach()\n")
    judge, x = Judge(student.calls), torch.ones(2)
    for cotangent, hints in ((torch.ones(2), (NO_GRADIENT,)), (None, ())):
        student.call("one", x, cotangent=cotangent)
        with pytest.raises(Mismatch) as caught:
            judge(None, x, what="the gradient")
        assert caught.value.difference.hints == hints


def test_state_returns_parameters_buffers_and_what_is_loose(hand_in: HandIn) -> None:
    """Tensors are rebuilt, names are whole."""
    student = hand_in(LAYER)
    state = student.state(student.call("one", 2).value)
    parts = [{k: v.tolist() for k, v in p.items()} for p in (state.parameters, state.buffers)]
    assert parts == [{"W": [[1.0], [1.0]]}, {"mask": [0.0, 0.0]}]
    assert (state.loose, state.aliases, state.training) == ({"cache": "tensor"}, (), True)


def test_load_gives_values_and_reports_what_did_not_fit(hand_in: HandIn) -> None:
    """The problems are the names that were not loaded."""
    student = hand_in(LAYER)
    instance = student.call("one", 2).value
    loaded = student.load(instance, {"W": torch.zeros(2, 1), "V": torch.zeros(1)})
    assert loaded == Loaded({"W": "loaded", "V": "missing"}, (), {"W": "W"})
    assert loaded.problems == {"V": "missing"}
    assert student.call(instance, torch.ones(1, 2)).value.tolist() == [[0.0]]


def test_what_was_called_is_remembered_for_the_message(hand_in: HandIn) -> None:
    """Also of the request that fails."""
    student = hand_in(LAYER)
    instance = student.call("one", 2).value
    with pytest.raises(StudentOutcome) as caught:
        student.call(instance, 3, scale=2)
    assert caught.value.calls == (
        Call("one", (2,), {}, instance=1),
        Call("one", (3,), {"scale": 2}, is_forward=True, instance=1),
    )


def test_what_an_instance_was_given_is_remembered_with_it(hand_in: HandIn) -> None:
    """By its full name; what was not there was not given."""
    student = hand_in(LAYER)
    first, second = (student.call("one", 2).value for _ in range(2))
    value = torch.zeros(2, 1)
    student.load(first, {"W": value, "V": torch.zeros(1)})
    assert [dict(call.given) for call in student.calls] == [{"W": value}, {}]
    assert [call.instance for call in student.calls] == [first.number, second.number]


# Failures.


def test_gradients_of_a_result_of_another_shape_are_not_asked_for(hand_in: HandIn) -> None:
    """The shape is what is wrong, not torch's own complaint about it."""
    student = hand_in(LAYER)
    instance = student.call("one", 2).value
    with pytest.raises(StudentOutcome) as caught:
        student.call(instance, torch.ones(3, 2), cotangent=torch.ones(2, 2))
    said = "The result: expected the shape (2, 2), received (3, 1), so that its gradients are not"
    assert explain_failure(caught.value.failure, (), "Layer").startswith(said)


def test_an_exception_is_a_failure_with_the_students_line(hand_in: HandIn) -> None:
    """It derives from pytest's own failure, so that no check swallows it."""
    student = hand_in(LAYER)
    with pytest.raises(StudentOutcome) as caught:
        student.call("fail", "no")
    assert caught.value.failure == Failure(
        kind="exception",
        type="KeyError",
        bases=("KeyError", "LookupError", "Exception", "BaseException", "object"),
        message="'no'",
        location=CodeLine("first.py", None, 21, "raise KeyError(message)"),
        own=True,
    )
    assert caught.value.failure.outcome is Outcome.FAILED
    assert not isinstance(caught.value, Exception)
    assert isinstance(caught.value, pytest.fail.Exception)


def test_a_refusal_is_the_exception_a_call_ends_in(hand_in: HandIn) -> None:
    """None when it returns."""
    student = hand_in(LAYER)
    refusal = student.refusal("fail", message="no")
    assert refusal is not None
    assert (refusal.type, refusal.message) == ("KeyError", "'no'")
    assert student.refusal("one", 2) is None


def test_what_is_asked_aside_is_shown_in_no_message(hand_in: HandIn) -> None:
    """And nothing is recognised by what came back."""
    student = hand_in("def one():\n    return 1\n")
    assert student.aside().call("one").value == 1
    assert (student.calls, student.answers) == ([], {})


def test_what_is_no_exception_is_no_refusal(hand_in: HandIn) -> None:
    """A missing name, or a stub, does not refuse anything."""
    student = hand_in(STUB)
    kinds = [failure_of(lambda n=name: student.refusal(n)).kind for name in ("one", "two")]
    assert kinds == ["not_attempted", "missing"]


def test_a_missing_name_comes_with_names_that_look_like_it(hand_in: HandIn) -> None:
    """Also where only upper and lower case differ; modules and private names do not count."""
    student = hand_in("import torch\n\ndef dot_produkt(): ...\ndef DOT_Product(): ...\n_dot = 1\n")
    failure = failure_of(lambda: student.call("dot_product"))
    alike = ("DOT_Product", "dot_produkt")
    assert failure == Failure("missing", message="dot_product", similar=alike)
    assert failure.outcome is Outcome.MISSING
    assert failure_of(lambda: student.call("softmax")).similar == ()


def test_a_missing_name_comes_with_what_stopped_the_file(hand_in: HandIn) -> None:
    """The first thing that went wrong when it was loaded."""
    student = hand_in({"first.ipynb": ["X = 1", "1 / 0", "[][0]"]})
    loading: Any = failure_of(lambda: student.call("one")).loading
    assert loading.type == "ZeroDivisionError"
    assert loading.location == CodeLine("first.ipynb", 2, 1, "1 / 0")


@pytest.mark.parametrize(
    ("files", "stopped", "stops"),
    [
        ({"first.py": "1 / 0\n\n\ndef one(): ...\n"}, "first.py", True),
        ({"first.py": "def one(): pass\n\n\nx = (\n"}, None, False),
        ({"first.py": "1 / 0\n\n\ndef two(): ...\n"}, "", True),
        ({"first.ipynb": ["1 / 0\ndef one(): ..."]}, "first.ipynb", True),
        ({"first.ipynb": ["1 / 0", "def two(): ..."]}, "", False),
    ],
    ids=["before", "after", "not written", "in its cell", "in another cell"],
)
def test_a_name_that_is_written_below_what_stops_the_file_is_told_apart(
    hand_in: HandIn, files: dict[str, Any], stopped: str | None, stops: bool
) -> None:
    """It is no misspelt name; None where it is defined."""
    student = hand_in(files)
    if stopped is None:
        assert student.call("one").value is None
    else:
        assert failure_of(lambda: student.call("one")).stopped == stopped
    assert bool(student.submission.stops([student.exercise])) is stops
    assert bool(student.submission.stops_below([student.exercise])) is (stopped is None)


def test_the_exercises_own_sentinel_is_not_attempted(hand_in: HandIn) -> None:
    """Another one's is a block: a slip in one exercise is paid for once."""
    failure = failure_of(lambda: hand_in(STUB).call("one"))
    assert (failure.kind, failure.message) == ("not_attempted", "01_first/one")
    assert failure.outcome is Outcome.NOT_ATTEMPTED
    text = 'raise NotImplementedError("01_first/zero: not attempted yet")'
    student = hand_in(f"def zero():\n    {text}\n\n\ndef one():\n    return zero() + 1\n")
    assert failure_of(lambda: student.call("one")) == Failure(
        "blocked", message="01_first/zero", location=CodeLine("first.py", None, 2, text)
    )


def test_a_failing_reference_is_the_graders_fault() -> None:
    """Never the student's."""
    student = student_of(SourceFile("first.py", "first", True, ()))
    reference = ReferenceHandle(student.submission, student.exercise)
    with pytest.raises(GraderFault, match=r"^the reference solution of 01_first/one failed: "):
        reference.call("one")


# Which file counts.


def test_an_exercise_is_looked_up_in_the_first_file_that_defines_it(hand_in: HandIn) -> None:
    """The others are for what the first lacks."""
    student = hand_in({"a.py": "two = 2\n", "b.py": "one = 'b'\n", "c.py": "one = 'c'\n"})
    assert student.get("one") == "b"


def test_an_unreadable_file_is_passed_over_or_reported(submit: Callable[..., Submission]) -> None:
    """Reported where no other file defines the name; without any there is nothing to look in."""
    broken = SourceFile("a.ipynb", "a", False, (), "its JSON is damaged at line 1, column 1")
    assert student_of(broken, *submit({"b.py": "one = 1\n"}).sources.values()).get("one") == 1
    message = "a.ipynb cannot be read: its JSON is damaged at line 1, column 1"
    failure = failure_of(lambda: student_of(broken).get("one"))
    assert failure == Failure("missing", message=message, is_sentence=True)
    assert failure_of(lambda: student_of().call("one")) == Failure("missing")


@pytest.mark.parametrize("filled", ["py", "ipynb"])
def test_an_import_finds_the_form_that_was_filled_in(
    small_course: Course, tmp_path: Path, filled: str
) -> None:
    """A student has every assignment in two forms and fills in one of them."""
    folder = tmp_path / "student"
    shutil.copytree(small_course.root / "assignments", folder)
    for name in ("01_first/first", "02_second/second"):
        solution = (small_course.root / "solutions" / f"{name}.py").read_text("utf-8")
        answer = solution.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
        path = folder / f"{name}.{filled}"
        path.write_text(answer if filled == "py" else notebook_of(answer), "utf-8")
    submission = read_submission(small_course, folder, "someone")
    handle = SubmissionHandle(submission, InProcessSession(submission), small_course.limits)
    exercises = small_course.exercises.values()
    assert [StudentHandle(handle, e).call(e.name).value for e in exercises] == [1, 2]


def notebook_of(text: str) -> str:
    """A notebook of one cell."""
    cell = {"cell_type": "code", "source": text, "metadata": {}}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_what_one_exercise_prints_is_returned_call_by_call(
    hand_in: HandIn, monkeypatch: Any
) -> None:
    """A result has what was printed during the call, not before."""
    student = hand_in("def one(n):\n    return n\n")
    texts = iter(["", "a\n", "", "b\n"])
    monkeypatch.setattr(student.submission.session.servant, "drain", lambda: next(texts))
    answers = [student.call("one", n).printed for n in range(3)]
    assert (answers, student.printed) == (["a\n", "", "b\n"], ["a\n", "b\n"])


def test_a_stub_hides_no_definition_in_another_file(hand_in: HandIn) -> None:
    """The one that is written counts."""
    assert hand_in({"a.py": STUB, "b.py": "def one(): return 2\n"}).call("one").value == 2


def test_of_several_files_that_fail_the_one_that_has_the_name_is_told(hand_in: HandIn) -> None:
    """Not the first one."""
    student = hand_in({"a.py": "1 / 0\n", "b.py": "[][0]\n\n\ndef one(): ...\n"})
    failure: Any = failure_of(lambda: student.call("one"))
    assert (failure.loading.type, failure.stopped) == ("IndexError", "b.py")


KINDS = """
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum


class Light(Enum):
    RED = 1


@dataclass
class Point:
    x: float


def one(x):
    if x == "light":
        return Light.RED
    if x == "point":
        return Point(2.0)
    if x == "numbers":
        return (n for n in range(3))
    return x + x
"""


def test_further_kinds_go_to_student_code_and_come_back(hand_in: HandIn) -> None:
    """Exact numbers and dates as themselves, members and named fields as a description."""
    student = hand_in(KINDS)
    assert student.call("one", Decimal("0.10")).value == Decimal("0.20")
    assert student.call("one", timedelta(days=1)).value == timedelta(days=2)
    assert student.call("one", "light").value == EnumMember("Light", "RED", 1)
    assert student.call("one", "point").value == Record("Point", {"x": 2.0})
    assert student.call("one", "numbers").value == RemoteObject(1, "instance", "generator")


def test_an_argument_that_does_not_travel_is_the_authors_mistake(hand_in: HandIn) -> None:
    """Said where it is handed over, with what travels; student code never sees it."""
    student = hand_in(KINDS)
    for value in (lambda: 1, [slice(1)], {"a": (n for n in "b")}, Record("Point", {}), object()):
        with pytest.raises(ValueError, match="cannot be handed to student code") as caught:
            student.call("one", value)
        assert "What travels: numbers" in str(caught.value)
    assert student.calls == []
