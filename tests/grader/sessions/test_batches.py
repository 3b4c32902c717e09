"""Tests of several requests sent at once: each is served, timed and ended as if it came alone."""

from typing import Any

import pytest

from grader.sandbox.stream import Raw
from grader.sandbox.wire import Frame, encode
from grader.sessions.base import OwnFrame
from tests.grader.conftest import KEY, Talk

COUNTING = """
calls = 0


def f():
    global calls
    calls += 1
    print(calls)
    if calls == {position}:
        {what}
    return calls
"""
CALLS = 4


def asked_at_once(talk: Talk) -> list[dict[str, Any]]:
    """The replies to some calls that were sent at once, as headers."""
    header = {"verb": "call", "source": KEY, "name": "f", "args": [], "kwargs": {}}
    request = encode(Frame({**header, "seed": None, "training": None, "cotangent": None}))
    replies = talk.session.exchange_all([request] * CALLS, talk.session.limits.request_seconds)
    return [reply.frame().header if isinstance(reply, Raw) else reply.header for reply in replies]


def calls_made(talk: Talk) -> Any:
    """How often the function was called in the process that serves now."""
    return talk.get("calls")


def test_replies_come_in_the_order_of_the_requests(talk_to: Any) -> None:
    """Each with what its own call printed."""
    talk = talk_to(COUNTING.format(position=0, what="pass"))
    replies = asked_at_once(talk)
    assert [(reply["value"], reply["output"]) for reply in replies] == [
        (number, f"{number}\n") for number in range(1, CALLS + 1)
    ]


@pytest.mark.parametrize("position", range(1, CALLS + 1))
def test_what_follows_a_failure_is_not_run(talk_to: Any, position: int) -> None:
    """The process lives on, as it would when each request had waited for the reply before."""
    talk = talk_to(COUNTING.format(position=position, what="1 / 0"))
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [*range(1, position), None]
    assert replies[-1]["failure"]["type"] == "ZeroDivisionError"
    assert (calls_made(talk), talk.session.generation) == (position, 1)


@pytest.mark.slow
@pytest.mark.parametrize("position", range(1, CALLS + 1))
def test_a_death_ends_the_batch_where_it_happens(talk_to: Any, position: int) -> None:
    """The replies before it count, and the next request is served by a new process."""
    talk = talk_to(COUNTING.format(position=position, what="import os; os._exit(3)"))
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [*range(1, position), None]
    assert replies[-1]["failure"]["kind"] == "crashed"
    assert (calls_made(talk), talk.session.generation) == (0, 2)


@pytest.mark.slow
def test_each_request_has_a_time_of_its_own(talk_to: Any) -> None:
    """All together may take longer than one."""
    busy = "start = process_time()\n    while process_time() < start + 0.3: pass"
    code = f"from time import process_time\n{COUNTING}".replace("    print(calls)", f"    {busy}")
    talk = talk_to(code.format(position=0, what="pass"), request_seconds=0.7)
    assert [reply["value"] for reply in asked_at_once(talk)] == [*range(1, CALLS + 1)]


@pytest.mark.parametrize("position", [1, 3])
def test_what_never_ends_is_ended_where_it_is(talk_to: Any, position: int) -> None:
    """The replies before it count."""
    talk = talk_to(COUNTING.format(position=position, what="while True: pass"), request_seconds=0.3)
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [*range(1, position), None]
    assert replies[-1]["failure"]["kind"] == "timeout"
    assert (calls_made(talk), talk.session.generation) == (position, 1)


@pytest.mark.slow
def test_what_cannot_be_interrupted_is_ended(talk_to: Any) -> None:
    """By its process; the replies before it count."""
    what = "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\n        while True: pass"
    talk = talk_to(COUNTING.format(position=2, what=what), request_seconds=0.3)
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [1, None]
    assert replies[-1]["failure"]["kind"] == "timeout"
    assert (calls_made(talk), talk.session.generation) == (0, 2)


def test_the_time_of_the_submission_ends_a_batch(talk_to: Any) -> None:
    """No reply is waited for any more, and the next request does not get one that is left."""
    talk = talk_to(COUNTING.format(position=0, what="pass"))
    talk.get("calls")
    talk.session.time_left.processor = 0.0
    (reply,) = asked_at_once(talk)
    assert "the whole submission are used up" in reply["failure"]["message"]
    talk.session.time_left.processor = 60.0
    assert calls_made(talk) == 0


def test_a_process_that_replies_to_nothing_in_order_harms_itself_alone(talk_to: Any) -> None:
    """Bytes that are no reply end it: what came before them counts, and nothing after."""
    hostile = """
    import gc, socket
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            thing.sendall(b"\\xff" * 100)
    """.strip().replace("\n    ", "\n        ")
    talk = talk_to(COUNTING.format(position=2, what=hostile))
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [1, None]
    assert isinstance(talk.session.decode(OwnFrame(replies[-1])), OwnFrame)
    assert "malformed" in replies[-1]["failure"]["message"]
    assert calls_made(talk) == 0
