"""Attacks on the protocol: silence, floods, garbage, and lengths that are not."""

import json
import struct

import pytest

SEND = """
import struct, sys, time


def send(data):
    while data:
        data = data[os.write(connection(), data):]
"""

NO_ANSWER = (5, {"double": "crashed blocked blocked"}, "malformed")
SILENCE = (5, {"double": "timeout blocked blocked"}, "still running")

GARBAGE = {
    "noise": "bytes(range(255, -1, -1)) * 16",
    "text": 'b"HTTP/1.1 200 OK\\r\\n\\r\\n"',
    "ones": 'b"\\xff" * 4096',
    "a header of four gigabytes": 'struct.pack("!II", 2**32 - 1, 0)',
    "a payload of four gigabytes": 'struct.pack("!II", 2, 2**32 - 1) + b"{}"',
    "no header": 'struct.pack("!II", 0, 0)',
    "a header that is no JSON": 'struct.pack("!II", 4, 0) + b"nope"',
    "a header that is a list": 'struct.pack("!II", 2, 0) + b"[]"',
    "a header that is a number": 'struct.pack("!II", 3, 0) + b"1.0"',
    "a header that is no text": 'struct.pack("!II", 4, 0) + b"\\xff\\xfe\\xfd\\xfc"',
    "a header with a constant that is not JSON": 'struct.pack("!II", 13, 0) + b\'{"value":NaN}\'',
    "a header nested a million deep": 'struct.pack("!II", 2**20, 0) + b"[" * 2**20',
    "a header with an endless number": 'struct.pack("!II", 2**20, 0) + b"1" * 2**20',
    "a pickle": 'struct.pack("!II", 3, 0) + b"\\x80\\x04."',
}


@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_costs_the_exercise(attack, data):
    """Anything that is no frame ends the process that sent it."""
    assert attack(f"{SEND}\n\ndef double(x):\n    send({data})\n    return x + x\n") == NO_ANSWER


LIES = {
    "text that is longer than its array": {"texts": ["str", [2], {"list": ["a"]}]},
    "text that takes gigabytes": {
        "texts": ["str", [9_000], {"list": ["a" * 20_000, *[""] * 8_999]}]
    },
    "a day that is none": {"date": "nan"},
    "moments of numbers that are none": {"moments": ["M8[s]", {"list": ["nan"]}]},
    "a frame without columns that it names": {
        "frame": [[[None], [["object", {"list": [1]}]]], [["a"], [["object", {"list": ["a"]}]]], []]
    },
    "a column whose dtype is code": {
        "series": [None, [[None], [["object", {"list": [1]}]]], ["exec('1')", {"list": [1]}]]
    },
    "an index of lists": {"index": [[None], [["object", {"list": [{"list": []}]}]]]},
}


@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize("node", LIES.values(), ids=LIES.keys())
def test_a_value_that_lies_about_itself_costs_the_exercise(attack, node):
    """Well-formed frames, whose values are not what they say; what is asked next finds no process."""
    header = json.dumps({"value": node, "output": ""}).encode()
    frame = struct.pack("!II", len(header), 0) + header
    body = f"send({frame!r})\n    os._exit(0)"
    score, lost, said = attack(f"{SEND}\n\ndef double(x):\n    {body}\n")
    assert (score, lost["double"], said) == (3, "crashed blocked blocked", "malformed")


def test_garbage_while_loading_costs_everything(attack):
    """The file is not run once more."""
    verdict = attack(f"{SEND}\nsend(b'\\xff' * 4096)\n")
    lost = {"double": "crashed blocked blocked", "total": "crashed blocked"}
    assert verdict == (0, {**lost, "Layer": "crashed blocked blocked"}, "malformed")


def test_an_endless_flood_costs_the_exercise(attack):
    """As fast as it can be written."""
    verdict = attack(f"{SEND}\n\ndef double(x):\n    while True:\n        send(bytes(2**20))\n")
    assert verdict == NO_ANSWER


def test_a_flood_of_well_formed_frames_costs_what_is_asked_next(attack):
    """Each is taken for the answer to the next request."""
    score, lost, _ = attack(
        f"""{SEND}
def double(x):
    for _ in range(200):
        send(struct.pack("!II", 14, 0) + b'{{"value":false')
    return x + x
"""
    )
    assert (score, lost["double"]) == (5, "crashed blocked blocked")


@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize(
    "part",
    [
        'b"\\0"',
        'struct.pack("!II", 100, 0)',
        'struct.pack("!II", 14, 0) + b\'{"val\'',
        'struct.pack("!II", 14, 32) + b\'{"value":true}\' + bytes(31)',
        'struct.pack("!II", 2, 96 * 2**20) + b"{}"',
    ],
)
def test_half_a_frame_and_then_silence_is_a_time_out(attack, part):
    """The deadline holds for the whole answer."""
    verdict = attack(
        f"""{SEND}
import signal

def double(x):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    send({part})
    while True:
        time.sleep(60)
""",
        request_seconds=0.5,
    )
    assert verdict == SILENCE


def test_an_answer_that_trickles_is_a_time_out(attack):
    """A byte now and then does not move the deadline."""
    verdict = attack(
        f"""{SEND}
import signal

def double(x):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    send(struct.pack("!II", 4000, 0))
    while True:
        send(b" ")
        time.sleep(0.01)
""",
        request_seconds=0.5,
    )
    assert verdict == SILENCE


def test_silence_is_a_time_out(attack):
    """No answer at all, and the alarm ignored."""
    verdict = attack(
        """
        import signal, time


        def double(x):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            while True:
                time.sleep(60)
        """,
        request_seconds=0.5,
    )
    assert verdict == SILENCE


FORGED = """
wire = ours("wire")
genuine = wire.encode


def encode(frame):
    if frame.header.get("value") != "x":
        return genuine(frame)
    text = TEXT.encode()
    return wire.PREFIX.pack(len(text), 0) + text


def double(x):
    patch("stream", "encode", encode)
    return "x"
"""

TOO_MUCH = {
    "values": '"{\\"value\\": {\\"list\\": [" + ",".join(["0"] * 200_000) + "]}}"',
    "lists in a list": '"{\\"value\\": {\\"list\\": [" + ",".join(["{\\"list\\":[]}"] * 100_000) + "]}}"',
    "keys of one hash": '"{\\"value\\": {\\"dict\\": [" + ",".join('
    'f"[{k * (2**61 - 1)},0]" for k in range(1, 30_000)) + "]}}"',
}


@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_more_values_than_may_travel_are_no_answer(attack, text):
    """The trusted side does not spend its time on them: keys of one hash take hours."""
    assert attack(f"TEXT = {text}\n{FORGED}") == NO_ANSWER


@pytest.mark.parametrize("launcher", ["without_namespaces"], indirect=True)
def test_names_without_end_cost_nobody_any_time(attack):
    """The names a file defines are compared with the one that is missing; only so many, so long."""
    verdict = attack(
        """
        genuine = ours("loader").Opened.header


        def header(self):
            names = [f"{'ab' * 90}{number}" for number in range(1_500)]
            return {**genuine(self), "names": names}


        patch("loader", "Opened.header", header)
        ours("servant").Missing.__str__ = lambda self: "ba" * 95
        del double
        """
    )
    score, lost, reason = verdict
    assert (score, lost, reason) == (5, {"double": "missing blocked blocked"}, "not defined")
