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


def test_replies_come_in_the_order_of_the_requests(talk_to: Any) -> None:
    """Each with what its own call printed."""
    talk = talk_to(COUNTING.format(position=0, what="pass"))
    replies = asked_at_once(talk)
    assert [(reply["value"], reply["output"]) for reply in replies] == [
        (number, f"{number}\n") for number in range(1, CALLS + 1)
    ]


HOSTILE = """
    import gc, socket
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            thing.sendall(b"\\xff" * 100)
""".strip().replace("\n", "\n    ")
IGNORED = "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\n        while True: pass"
ENDS = {
    "a failure": ("1 / 0", "exception", True),
    "a death": ("import os; os._exit(3)", "crashed", False),
    "no end": ("while True: pass", "timeout", True),
    "no end that can be interrupted": (IGNORED, "timeout", False),
    "bytes that are no reply": (HOSTILE, "crashed", False),
}


@pytest.mark.parametrize(
    ("name", "position"),
    [
        *(("a failure", position) for position in (1, 3, CALLS)),
        *(pytest.param("a death", n, marks=pytest.mark.slow) for n in (1, 3, CALLS)),
        *(("no end", position) for position in (1, 3)),
        pytest.param("no end that can be interrupted", 2, marks=pytest.mark.slow),
        ("bytes that are no reply", 2),
    ],
)
def test_a_batch_ends_where_one_ends(talk_to: Any, name: str, position: int) -> None:
    """The replies before it count, and nothing after it is run.

    The process lives on, as it would when each request had waited for the reply before, or the next
    request is served by a new one.
    """
    what, kind, lives_on = ENDS[name]
    talk = talk_to(COUNTING.format(position=position, what=what), request_seconds=0.3)
    replies = asked_at_once(talk)
    assert [reply.get("value") for reply in replies] == [*range(1, position), None]
    assert replies[-1]["failure"]["kind"] == kind
    assert isinstance(talk.session.decode(OwnFrame(replies[-1])), OwnFrame)
    state = (talk.get("calls"), talk.session.generation)
    assert state == ((position, 1) if lives_on else (0, 2))


@pytest.mark.slow
def test_each_request_has_a_time_of_its_own(talk_to: Any) -> None:
    """All together may take longer than one."""
    busy = "start = process_time()\n    while process_time() < start + 0.3: pass"
    code = f"from time import process_time\n{COUNTING}".replace("    print(calls)", f"    {busy}")
    talk = talk_to(code.format(position=0, what="pass"), request_seconds=0.7)
    assert [reply["value"] for reply in asked_at_once(talk)] == [*range(1, CALLS + 1)]


def test_the_time_of_the_submission_ends_a_batch(talk_to: Any) -> None:
    """No reply is waited for any more, and the next request does not get one that is left."""
    talk = talk_to(COUNTING.format(position=0, what="pass"))
    talk.get("calls")
    talk.session.time_left.processor = 0.0
    (reply,) = asked_at_once(talk)
    assert "the whole submission are used up" in reply["failure"]["message"]
    talk.session.time_left.processor = 60.0
    assert talk.get("calls") == 0
