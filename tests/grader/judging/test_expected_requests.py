"""Tests of what is asked ahead: the solution's requests, byte for byte, and nothing besides."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from msgspec import msgpack

from grader.core.records import Result, Visibility
from grader.course.course import Course
from grader.judging.answer_cache import AnswerCache
from grader.judging.expected_requests import ExpectedRequests, shaken
from grader.judging.solution_requests import SolutionRequests
from grader.judging.submission_grader import Scope, SubmissionGrader
from grader.sandbox.stream import Raw
from grader.sandbox.together import joined, parted
from grader.sandbox.wire import Frame, Packer, Unpacker, decode_header, encode, split
from grader.sessions.base import OwnFrame
from grader.sessions.child import ChildSession


@dataclass(eq=False)
class Heard(ChildSession):
    """Keeps what it sends, one request after the other, and how often it sends."""

    requests: list[bytes] = field(default_factory=list)
    sent: int = 0

    def exchange_all(self, requests: Any, seconds: float) -> list[Raw | OwnFrame]:
        """Keep the requests of a batch as they are."""
        before = len(self.requests)
        replies = super().exchange_all(requests, seconds)
        self.requests[before:] = requests[: len(replies)]
        return replies

    def exchange(self, request: bytes, seconds: float) -> Raw | OwnFrame:
        """Keep a request."""
        self.sent += bool(request)
        self.requests.append(request)
        return super().exchange(request, seconds)


@pytest.fixture
def graded_anew(graded: Any) -> Any:
    """Grades files with nothing remembered; the result, and what was sent."""
    return lambda bench, files: graded(replace(bench, answers=AnswerCache()), files, Heard)


def solutions(course: Course) -> dict[str, str]:
    """The solutions of the tiny course."""
    return {
        path.name: path.read_text("utf-8") for path in (course.root / "solutions").rglob("*.py")
    }


def test_a_right_submission_is_asked_the_same_in_fewer_messages(
    bench: SubmissionGrader, course: Course, graded_anew: Any
) -> None:
    """Byte for byte what checks ask by themselves: no expected value, no hash of one, no mark."""
    _result, ahead = graded_anew(bench, solutions(course))
    _result, alone = graded_anew(replace(bench, expected=None), solutions(course))
    assert ahead.requests == alone.requests
    assert ahead.sent < alone.sent == len(alone.requests)


def test_what_is_asked_is_kept_and_read_back(bench: SubmissionGrader, course: Course) -> None:
    """With names in any script, and tensors."""
    assert bench.expected is not None
    (exercise, *_others) = course.exercises.values()
    checks = bench.checks(Scope({exercise.id: exercise}))
    asked = bench.expected.of(exercise, [c for c in checks if c.visibility == "visible"])
    assert asked.requests
    assert msgpack.decode(msgpack.encode(asked), type=SolutionRequests) == asked


def test_another_file_is_asked_by_its_own_name() -> None:
    """Each of several requests in one frame; what is handed over stays as it is."""
    text, other = '"source":"a.py"', 'é "b".py'
    parts = [
        Frame({"verb": "call", "source": "a.py", "args": [text]}, b"12"),
        Frame({"verb": "call", "source": "a.py", "args": []}, b"3"),
    ]
    whole = encode(joined(parts, source="a.py"))
    made = SolutionRequests("a.py", "a.py -1 {}", {"check": (whole, encode(parts[0]))})
    assert made.of("a.py", "a.py -1 {}") is made.requests
    requests = made.of(other, f"{other} -1 {{}}")["check"]
    found = [
        Frame(decode_header(head), payload) for one in requests for head, payload in split(one)
    ]
    frame, alone = found
    assert alone == Frame({**parts[0].header, "source": other}, b"12")
    assert [part.header["source"] for part in (frame, *parted(frame))] == [other] * 3
    assert [part.header["args"] for part in parted(frame)] == [[text], []]
    assert [part.payload for part in parted(frame)] == [b"12", b"3"]


def test_classes_that_are_asked_otherwise_are_asked_nothing_ahead() -> None:
    """Their arguments have other names, or another order."""
    made = SolutionRequests("a.py", "a.py", {"check": (b"",)})
    assert made.of("b.py", "b.py -1 {'Mixture': ()}") == {}


def test_who_is_asked_otherwise_gets_one_new_process_for_it(
    bench: SubmissionGrader, course: Course, graded_anew: Any
) -> None:
    """The other checks of the exercise ask by themselves; what they say is the same."""
    files = solutions(course)
    files["mixture.py"] = files["mixture.py"].replace("W_query", "Wq")
    alone, _heard = graded_anew(replace(bench, expected=None), files)
    ahead, heard = graded_anew(bench, files)
    assert outcomes(ahead) == outcomes(alone)
    assert heard.restarts == 1


def outcomes(result: Result) -> dict[str, tuple[str, str]]:
    """How each check ended, and what it says."""
    return {
        check.id: (check.outcome, check.message) for e in result.exercises for check in e.checks
    }


def test_what_is_shaken_differs_in_the_last_bits_alone() -> None:
    """Zeros, whole numbers, texts and flags are as they were: checks compare them exactly."""
    values = {
        "weights": torch.tensor([0.0, 0.5, -3.0]),
        "ids": torch.tensor([1, 2]),
        "mask": torch.tensor([True, False, True]),
        "double": torch.tensor([0.1], dtype=torch.float64),
        "half": torch.tensor([1.0, math.inf], dtype=torch.bfloat16),
        "loss": [0.25, 0.0, 3],
        "raw": b"123",
    }
    packer = Packer()
    reply = Frame({"value": packer.pack(values), "output": "0.5"}, packer.payload())
    found = shaken(reply)
    unpacker = Unpacker(found.payload)
    value = unpacker.unpack(found.header["value"])
    unpacker.finish()
    changed = {name for name in values if not equal(values[name], value[name])}
    assert changed == {"weights", "double", "half", "loss"}
    assert found.header["output"] == "0.5"
    assert (value["weights"] == values["weights"]).tolist() == [True, False, False]
    assert torch.allclose(value["weights"], values["weights"], rtol=1e-6)
    assert math.isinf(value["half"][1])
    assert (value["loss"][0] - 0.25, value["loss"][1:]) == (math.ulp(0.25), [0.0, 3])


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same."""
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


def test_of_a_reply_with_bytes_that_nobody_knows_nothing_is_left() -> None:
    """A check that reads it ends, so nothing that depends on it is taken for independent."""
    assert shaken(Frame({"value": {"unheard of": 4}}, b"1234")) == Frame({})


def test_the_solution_need_not_run_where_its_replies_are_kept(
    bench: SubmissionGrader, course: Course, graded_anew: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second process reads what it replied in the first."""

    def ask_all(expected: ExpectedRequests) -> set[str]:
        for exercise in course.exercises.values():
            checks = bench.checks(Scope({exercise.id: exercise}))
            for visibility in Visibility:
                some = [check for check in checks if check.visibility is visibility]
                expected.of(exercise, some)
        return {*bench.environment.replies.kept}

    known = ask_all(ExpectedRequests(bench.environment))
    bench.environment.replies.kept.clear()
    assert set() < ask_all(ExpectedRequests(bench.environment)) <= known
    monkeypatch.setattr(bench.environment.reference_session.inner, "ask", None)
    result, _heard = graded_anew(bench, solutions(course))
    assert result.score == result.max_score
