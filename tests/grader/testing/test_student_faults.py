"""Tests of the handle against a session that replies nonsense: every reply ends in an outcome."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.records import Outcome
from grader.course.course import Exercise, Limits
from grader.judging.messages import explain_failure
from grader.sandbox.failures import CodeLine
from grader.sandbox.wire import Frame, RemoteObject
from grader.sessions.base import failed
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure
from grader.testing.student import StudentHandle, StudentOutcome

OPENED = {"failures": [], "names": ["one"]}
INSTANCE = RemoteObject(1, "module", "Layer")

REQUESTS: dict[str, Callable[[StudentHandle], object]] = {
    "get": lambda student: student.get("one"),
    "call": lambda student: student.call("one", torch.ones(2), cotangent=torch.ones(2)),
    "refusal": lambda student: student.refusal("one"),
    "state": lambda student: student.state(INSTANCE),
    "load": lambda student: student.load(INSTANCE, {"W": torch.ones(1)}),
}


@dataclass
class FakeSession:
    """Replies to each verb with a fixed frame, and keeps what it was asked."""

    replies: dict[str, Frame]
    asked: list[tuple[str, float]] = field(default_factory=list)
    isolation: tuple[str, ...] = ()
    generation: int = 1

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """The fixed reply."""
        self.asked.append((frame.header["verb"], seconds))
        return self.replies.get(frame.header["verb"], Frame({}))

    def close(self) -> None:
        """Nothing is held."""


def student_of(session: FakeSession) -> StudentHandle:
    """A handle on a submission whose session this is."""
    cells = (Cell(None, "def one(): ...\n"),)
    source = SourceFile("first.py", "first", True, cells)
    submission = Submission("x", {"first.py": source}, {"01_first": Reading(("first.py",))})
    handle = SubmissionHandle(submission, session, Limits(load_seconds=7, request_seconds=3))
    return StudentHandle(handle, Exercise("01_first", "one", 1))


def replying(request: str, header: dict[str, Any], payload: bytes = b"") -> StudentHandle:
    """A handle whose session replies to one kind of request with this frame."""
    verb = "call" if request == "refusal" else request
    replies = {"open": Frame(OPENED), verb: Frame(header, payload)}
    return student_of(FakeSession(replies))


def failure_of(request: Callable[[], object]) -> Failure:
    """The failure that a request ends in."""
    with pytest.raises(StudentOutcome) as caught:
        request()
    return caught.value.failure


TENSOR = {"tensor": ["float32", [1], False, False]}

NONSENSE = [
    ("get", {"value": {"strange": 1}}, b""),
    ("get", {"value": [1]}, b""),
    ("get", {"value": 1}, b"left over"),
    ("get", {"value": TENSOR}, b"123"),
    ("call", {"value": {"strange": 1}}, b""),
    ("call", {"value": 1, "gradients": {"strange": 1}}, b""),
    ("call", {"value": TENSOR}, b"12345"),
    ("call", {"value": {"tensor": ["float32", [0, 2**31 - 1, 2**31 - 1, 2**31 - 1], False, False]}}, b""),
    ("refusal", {"value": {"strange": 1}}, b""),
    ("state", {}, b""),
    ("state", {"parameters": {"strange": 1}, "buffers": None, "loose": {}, "aliases": []}, b""),
    ("state", {"parameters": TENSOR, "buffers": None, "loose": {}, "aliases": []}, b"123"),
    ("state", {"parameters": None, "buffers": None, "loose": {}, "aliases": []}, b"left over"),
    ("state", {"parameters": None, "buffers": None, "loose": {"a": 1}, "aliases": []}, b""),
    ("state", {"parameters": None, "buffers": None, "loose": [], "aliases": []}, b""),
    ("state", {"parameters": None, "buffers": None, "loose": {}, "aliases": 5}, b""),
    ("state", {"parameters": None, "buffers": None, "loose": {}, "aliases": [5]}, b""),
    ("load", {}, b""),
    ("load", {"report": {"W": 1}, "not_given": []}, b""),
    ("load", {"report": {}, "not_given": 5}, b""),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "header", "payload"), NONSENSE, ids=str)
def test_a_malformed_reply_counts_as_a_crash(
    request_: str, header: dict[str, Any], payload: bytes
) -> None:
    """The student's process is not trusted: what it says is checked before it is used."""
    student = replying(request_, header, payload)
    assert failure_of(lambda: REQUESTS[request_](student)).outcome is Outcome.CRASHED


def test_the_message_of_a_crash_says_what_was_wrong() -> None:
    """For the instructor, and to find our own mistakes."""
    student = replying("get", {"value": {"strange": 1}})
    assert failure_of(lambda: student.get("one")) == Failure(
        "crashed",
        message="its process sent a malformed reply: a value carries the unknown tag 'strange'",
    )


@pytest.mark.parametrize(
    "failure",
    [None, 5, [], {}, {"kind": "passed"}, {"kind": None}, {"kind": ["missing"]}, {"kind": {}}],
    ids=str,
)
@pytest.mark.parametrize("request_", list(REQUESTS))
def test_a_failure_reported_in_an_unknown_form_counts_as_a_crash(
    request_: str, failure: Any
) -> None:
    """Whatever the request was."""
    student = replying(request_, {"failure": failure})
    assert failure_of(lambda: REQUESTS[request_](student)) == Failure(
        "crashed", message="its process reported a failure in an unknown form"
    )


def test_odd_parts_of_a_failure_are_dropped() -> None:
    """Only texts are texts, only a location with a line is one."""
    failure = {
        "kind": "exception",
        "type": 5,
        "bases": ["ValueError", 3],
        "message": "x" * 5_000,
        "where": {"file": 1, "cell": "2", "line": 3, "text": None},
        "own": "yes",
    }
    reported = failure_of(lambda: replying("get", {"failure": failure}).get("one"))
    assert (reported.type, reported.bases, reported.own) == ("", ("ValueError", ""), False)
    assert reported.message == "x" * 2_000
    assert reported.location == CodeLine("", None, 3, "")


@pytest.mark.parametrize(
    "opened",
    [
        *({}, {"failures": 5}, {"failures": {"a": 1}}, {"failures": "no"}, {"failures": [5]}),
        *({"names": None}, {"names": 5}, {"names": [1, ["one"]]}, {"failure": 5}),
        {"failures": [{"kind": []}]},
    ],
    ids=str,
)
def test_a_nonsense_reply_to_loading_a_file_ends_in_an_outcome(opened: dict[str, Any]) -> None:
    """Or is passed over; no other exception leaves the handle."""
    session = FakeSession({"open": Frame(opened), "get": Frame({"value": 1})})
    with contextlib.suppress(StudentOutcome):
        assert student_of(session).get("one") == 1


KEYS = st.sampled_from(
    [
        *("value", "gradients", "changed", "parameters", "buffers", "loose", "aliases", "report"),
        *("not_given", "failure", "failures", "names", "output", "training", "kind", "tensor"),
        *("list", "dict", "reference", "message", "where", "line", "bases"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.sampled_from(sorted(REQUESTS)),
    st.dictionaries(KEYS, JSON, max_size=6),
    st.dictionaries(KEYS, JSON, max_size=3),
    st.binary(max_size=8),
)
def test_no_reply_makes_the_handle_raise_anything_but_an_outcome(
    request: str, header: dict[str, Any], opened: dict[str, Any], payload: bytes
) -> None:
    """A sabotaged servant never looks like the grader's own fault."""
    verb = "call" if request == "refusal" else request
    session = FakeSession({"open": Frame(opened), verb: Frame(header, payload)})
    with contextlib.suppress(StudentOutcome):
        REQUESTS[request](student_of(session))


# How a session is asked.


def test_loading_and_requests_have_their_own_limits() -> None:
    """A file is loaded once, within the time for loading; in a new process once more."""
    session = FakeSession({"open": Frame(OPENED), "get": Frame({"value": 1})})
    student = student_of(session)
    assert [student.get("one"), student.get("one")] == [1, 1]
    session.generation = 2
    StudentHandle(student.submission, student.exercise).get("one")
    once = ("open", 7), ("get", 3)
    assert session.asked == [*once, ("get", 3), *once]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("timeout", "Loading your file took too long: so."),
        ("crashed", "Loading your file ended its process: so."),
        ("out_of_memory", "Loading your file asked for more memory than a submission may use."),
    ],
)
def test_a_file_that_ended_its_process_is_not_loaded_again(kind: str, sentence: str) -> None:
    """Each exercise in it ends the same way at once; what is not in it is missing."""
    session = FakeSession({"open": failed(kind, "so")})
    student = student_of(session)
    first = failure_of(lambda: student.get("one"))
    session.generation = 2
    again = StudentHandle(student.submission, student.exercise)
    assert (first, failure_of(lambda: again.call("one"))) == (Failure(kind, message="so"),) * 2
    assert [verb for verb, _ in session.asked] == ["open"]
    other = student_of(session)
    other.exercise = Exercise("01_first", "other", 1)
    failure = failure_of(lambda: other.call("other"))
    assert failure == Failure("missing", message="other", loading=Failure(kind, message="so"))
    assert explain_failure(failure, (), "other") == f"other is not defined.\n{sentence}"


def test_forgetting_asks_only_a_session_that_was_asked_before() -> None:
    """No process is started to forget nothing."""
    session = FakeSession({"open": Frame(OPENED), "get": Frame({"value": 1})})
    student = student_of(session)
    student.submission.forget()
    student.get("one")
    student.submission.forget()
    assert [verb for verb, _ in session.asked] == ["open", "get", "forget"]
