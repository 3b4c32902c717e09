"""Tests of reference answers worked out once: kept in memory, or read from a recording."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.core.errors import GraderFault
from grader.sandbox.wire import Frame
from grader.sessions.in_process import InProcessSession
from grader.sessions.reference_sessions import CachedSession, RecordedSession, RecordingSession
from grader.submissions.submission import Submission

KEY = "01_first/first.py"


@dataclass
class Counter:
    """A session whose answers depend on all requests since it last forgot."""

    asked: list[str] = field(default_factory=list)
    since: list[str] = field(default_factory=list)
    closed: bool = False
    isolation: tuple[str, ...] = ()
    generation: int = 1

    def ask(self, frame: Frame, seconds: float) -> Frame:
        """The names asked for since the last `forget`."""
        del seconds
        name = frame.header.get("name", frame.header["verb"])
        self.asked.append(name)
        self.since = [] if name == "forget" else [*self.since, name]
        return Frame({"value": ",".join(self.since)}, frame.payload)

    def close(self) -> None:
        """Remember it."""
        self.closed = True


def get(name: str, payload: bytes = b"") -> Frame:
    """A request by its name."""
    return Frame({"verb": "get", "source": KEY, "name": name}, payload)


def follow(session: Any, check: str, names: Sequence[str]) -> list[str]:
    """The answers to the requests of one check."""
    session.begin(check)
    return [session.ask(get(name), 1.0).header["value"] for name in names]


# Kept in memory.


def test_each_trace_is_asked_once() -> None:
    """However many submissions follow it, and whichever check it belongs to."""
    inner = Counter()
    session = CachedSession(inner)
    answers = [follow(session, check, "ab") for check in ("one", "one", "two")]
    assert (answers, inner.asked) == ([["a", "a,b"]] * 3, ["forget", "a", "b"])


def test_a_trace_that_leaves_the_known_path_catches_up() -> None:
    """The requests so far are asked again, and then only what is new."""
    inner = Counter()
    session = CachedSession(inner)
    follow(session, "one", "abc")
    inner.asked.clear()
    assert follow(session, "one", "abxy") == ["a", "a,b", "a,b,x", "a,b,x,y"]
    assert inner.asked == ["forget", "a", "b", "x", "y"]


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=4), max_size=8))
@example(["ab", "b", "ba", "bab", "babc", "abc"])
def test_cached_answers_are_the_live_ones(paths: list[str]) -> None:
    """Whatever the order of the checks: as if each had a fresh session of its own."""
    session, inner = CachedSession(Counter()), Counter()
    for path in paths:
        inner.since.clear()
        live = [inner.ask(get(name), 1.0).header["value"] for name in path]
        assert follow(session, "check", path) == live


def test_the_bytes_of_a_request_count() -> None:
    """Two tensors of one shape lead to two answers."""
    session = CachedSession(Counter())
    for payload in (b"1", b"2", b"1"):
        session.begin("one")
        assert session.ask(get("a", payload), 1.0).payload == payload


def test_a_file_is_opened_once_outside_of_any_trace() -> None:
    """And forgetting is not passed on: a new trace does it where that is needed."""
    inner = Counter()
    session = CachedSession(inner)
    opens = [session.ask(Frame({"verb": "open", "source": KEY}), 1.0) for _ in range(2)]
    assert opens[0] is opens[1]
    assert session.ask(Frame({"verb": "forget"}), 1.0) == Frame({})
    assert inner.asked == ["open"]


def test_what_is_kept_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers used longest ago go first, and are asked for again."""
    monkeypatch.setattr("grader.sessions.reference_sessions.MAX_KEPT", 2)
    inner = Counter()
    session = CachedSession(inner)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert follow(session, "one", name) == [name]
    assert [name for name in inner.asked if name != "forget"] == ["a", "b", "c", "b"]
    assert len(session.replies.kept) == 2


@pytest.mark.parametrize("wrap", [CachedSession, RecordingSession])
def test_closing_closes_the_other_session(wrap: Callable[[Counter], Any]) -> None:
    """There is nothing else to release."""
    inner = Counter()
    wrap(inner).close()
    assert inner.closed


def test_replies_are_changed_for_a_while_alone() -> None:
    """Also where what is done with them fails; and those that are kept never are."""
    session = CachedSession(Counter())
    follow(session, "one", "a")

    def fail() -> None:
        with session.replies.changed(lambda _reply: Frame({"value": 0})):
            assert follow(session, "one", "ab") == [0, 0]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert follow(session, "one", "ab") == ["a", "a,b"]


# Recorded.


def recorded(recording: RecordingSession) -> RecordedSession:
    """What was recorded, to be answered from."""
    return RecordedSession(recording.transcripts, {KEY: {"names": ["a", "b"]}})


def test_a_recording_answers_as_it_was_answered() -> None:
    """Check by check, in any order, as often as it is asked; the last run of a check counts."""
    recording = RecordingSession(Counter())
    follow(recording, "two", "ab")
    traces = {"one": "ab", "two": "b", "three": ""}
    live = {check: follow(recording, check, names) for check, names in traces.items()}
    session = recorded(recording)
    for check in ("two", "one", "three", "one", "two"):
        assert follow(session, check, traces[check]) == live[check]
    session.close()


def test_a_recording_knows_what_its_source_defines_and_forgets_nothing() -> None:
    """Without a solution, nothing can be opened or let go of."""
    session = recorded(RecordingSession(Counter()))
    assert session.ask(Frame({"verb": "open", "source": KEY}), 1.0) == Frame(
        {"failures": [], "names": ["a", "b"]}
    )
    assert session.ask(Frame({"verb": "forget"}), 1.0) == Frame({})


def test_opening_and_forgetting_are_passed_on_and_not_recorded() -> None:
    """They belong to no check."""
    inner = Counter()
    recording = RecordingSession(inner)
    recording.begin("one")
    recording.ask(Frame({"verb": "open", "source": KEY}), 1.0)
    recording.ask(Frame({"verb": "forget"}), 1.0)
    assert (recording.transcripts, inner.asked) == ({"one": []}, ["forget", "open", "forget"])


def test_a_request_may_differ_in_its_bytes_from_the_recorded_one() -> None:
    """Drawn inputs may differ in the last bit between processors."""
    recording = RecordingSession(Counter())
    recording.begin("one")
    recording.ask(get("a", b"1"), 1.0)
    session = recorded(recording)
    session.begin("one")
    assert session.ask(get("a", b"2"), 1.0) == Frame({"value": "a"}, b"1")


@pytest.mark.parametrize(
    ("check", "names"), [("one", "b"), ("one", "abc"), ("one", "aa"), ("other", "a")]
)
def test_a_recording_that_does_not_fit_is_the_graders_fault(check: str, names: str) -> None:
    """Another request, one more, or a check that was never recorded."""
    recording = RecordingSession(Counter())
    follow(recording, "one", "ab")
    with pytest.raises(GraderFault) as caught:
        follow(recorded(recording), check, names)
    assert str(caught.value) == (
        f"the recording does not fit the check {check}; "
        "the course and its recordings come from different releases"
    )


def test_instances_are_recorded_by_their_numbers(submit: Callable[..., Submission]) -> None:
    """A real servant numbers them anew for each check, so that the numbers repeat."""
    submission = submit("class A:\n    def __call__(self, x):\n        return x + 1\n")
    recording = RecordingSession(InProcessSession(submission))
    make = Frame({"verb": "call", "source": KEY, "name": "A", "args": [], "kwargs": {}})
    use = Frame({"verb": "call", "source": KEY, "instance": 1, "args": [2], "kwargs": {}})
    for check in ("one", "two"):
        recording.begin(check)
        answers = [recording.ask(frame, 1.0).header["value"] for frame in (make, use)]
        assert answers == [{"reference": [1, "instance", "A"]}, 3]
    session = recorded(recording)
    session.begin("two")
    assert [session.ask(frame, 1.0).header["value"] for frame in (make, use)] == answers
