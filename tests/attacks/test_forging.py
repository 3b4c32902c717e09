"""Attacks that forge results: prints, files, and frames written past the servant."""

import pytest


@pytest.fixture
def launcher(without_namespaces):
    """What travels does not depend on namespaces."""
    return without_namespaces


EVERYTHING = {
    "double": "failed blocked blocked",
    "total": "failed blocked",
    "Layer": "failed blocked blocked",
}
NOT_DOUBLED = (5.6, {"double": "passed failed failed"}, "wrong")

FORGE = """
wire = ours("wire")
genuine = wire.encode


def forge(change):
    def encode(frame):
        header = dict(frame.header)
        payload = change(header, frame.payload)
        return genuine(wire.Frame(header, frame.payload if payload is None else payload))

    patch("stream", "encode", encode)
"""
"""A servant that changes its answers before they are sent."""

WRITE = """
import json, socket, struct


def write(header, payload=b"", size=None):
    text = json.dumps(header).encode()
    frame = struct.pack("!II", len(text), len(payload)) + text + payload
    os.write(connection(), frame[:size])
"""
"""A frame written past the servant."""

VALUES = '{"tensor": ["float32", [2, 4], False, False]}'


# Words that look like a result.


def test_printing_a_result_gives_none(attack):
    """What is printed is shown as what it is."""
    verdict = attack(
        """
        import json


        def double(x):
            result = {"format": "grader-kit/result/3", "score": 8, "outcome": "passed"}
            print(json.dumps(result), flush=True)
            os.write(1, json.dumps(result).encode())
            os.write(2, b"8 passed in 0.01s")
            return x
        """
    )
    assert verdict == NOT_DOUBLED


def test_result_files_are_written_nowhere(attack):
    """In the working folder, the course, and a folder that everybody may write to."""
    verdict = attack(
        """
        def double(x):
            for folder in (".", COURSE, OUTSIDE, "/tmp", "/dev/shm", "/var/tmp"):
                for name in ("results.json", "attack-results.json", "report.xml"):
                    try:
                        with open(f"{folder}/{name}", "w") as file:
                            file.write('{"score": 8}')
                    except OSError:
                        pass
            return x
        """
    )
    assert verdict == NOT_DOUBLED


def test_words_of_results_in_an_answer_say_nothing(attack):
    """Outcomes and scores are no part of an answer."""
    verdict = attack(
        f"""{FORGE}
def double(x):
    return x

forge(lambda h, p: h.update(outcome="passed", score=8, passed=True, exit=0, verdict="passed"))
"""
    )
    assert verdict == NOT_DOUBLED


@pytest.mark.parametrize("kind", ["passed", "", "error", "remark", None, ["passed"], {"a": 1}])
def test_a_failure_of_an_unknown_kind_is_a_crash(attack, kind):
    """No kind of failure is better than passing, and none is the grader's fault."""
    verdict = attack(
        f"""{FORGE}
def change(header, payload):
    if header.get("value") == "x":
        header["failure"] = {{"kind": {kind!r}, "message": "passed"}}

def double(x):
    return "x"

forge(change)
"""
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "no known failure")


@pytest.mark.parametrize(
    "kind", ["crashed", "timeout", "out_of_memory", "missing", "blocked", "not_attempted"]
)
def test_a_forged_reason_is_not_shown_as_ours(attack, kind):
    """Student code can only lose by it; the text is no sentence of the grader's."""
    verdict = attack(
        f"""{FORGE}
def change(header, payload):
    if header.get("value") == "x":
        header["failure"] = {{"kind": {kind!r}, "message": "It is us. Give this full marks."}}

def double(x):
    return "x"

forge(change)
"""
    )
    score, lost, reason = verdict
    assert (score, list(lost), "full marks" in reason) == (5, ["double"], False)


# Frames.


def test_an_answer_given_before_it_was_asked_for_answers_what_is_asked(attack):
    """It takes the place of the answer to loading the file, which then defines nothing."""
    verdict = attack(f"{WRITE}\nwrite({{'value': True, 'names': []}})\n")
    assert verdict == (0, EVERYTHING, "wrong")


def test_an_answer_given_twice_is_taken_for_the_next_answer(attack):
    """Answers then come one request late, and are wrong."""
    verdict = attack(
        f"""{WRITE}
def double(x):
    write({{"value": 2.0, "changed": []}})
    return x + x
"""
    )
    assert verdict == (0, EVERYTHING, "wrong")


def test_a_frame_with_the_right_shape_and_other_values_is_wrong(attack):
    """Whoever writes a frame has to know the values all the same."""
    verdict = attack(
        f"""{WRITE}
def double(x):
    write({{"value": {VALUES}, "changed": []}}, bytes(32))
    os._exit(0)
"""
    )
    assert verdict == (5.6, {"double": "passed crashed blocked"}, "exit status 0")


def test_a_frame_on_every_descriptor_says_nothing(attack):
    """Only one of them is a connection, and that answers with the servant's own frame."""
    verdict = attack(
        f"""{WRITE}
def double(x):
    text = b'{{"score": 8}}'
    for number in (0, 1, 2, *range(3, 64)):
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, struct.pack("!II", len(text), 0) + text)
        except OSError:
            pass
    return x
"""
    )
    assert verdict == NOT_DOUBLED


# What a frame claims.

LIES = {
    "more bytes than there are": '{"tensor": ["float32", [4000], False, False]}, bytes(32)',
    "a gigantic shape": '{"tensor": ["float32", [2**31 - 1, 2**31 - 1], False, False]}, bytes(32)',
    "fewer bytes than there are": '{"tensor": ["float32", [2, 4], False, False]}, bytes(36)',
    "a negative size": '{"tensor": ["float32", [-2, -4], False, False]}, bytes(32)',
    "a size that is no whole number": '{"tensor": ["float32", [2.0, 4], False, False]}, bytes(32)',
    "a size that is true": '{"tensor": ["float32", [True, 8], False, False]}, bytes(32)',
    "an unknown dtype": '{"tensor": ["object", [2, 4], False, False]}, bytes(32)',
    "a dtype that is a list": '{"tensor": [["float32"], [2, 4], False, False]}, bytes(32)',
    "a hundred axes": '{"tensor": ["float32", [1] * 100, False, False]}, bytes(4)',
    "flags that are numbers": '{"tensor": ["float32", [2, 4], 1, 0]}, bytes(32)',
    "truths that are neither": '{"tensor": ["bool", [2, 4], False, False]}, bytes([7] * 8)',
    "two tags": '{"tensor": ["float32", [0], False, False], "list": []}, b""',
    "an unknown tag": '{"pickle": "gASVAAAAAAAAAAA="}, b""',
    "no tag": '[1, 2], b""',
    "a value nested too deeply": 'nested(60), b""',
    "a reference without a number": '{"reference": ["1", "module", "Layer"]}, b""',
    "a dictionary of threes": '{"dict": [[1, 2, 3]]}, b""',
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_frame_that_contradicts_itself_is_a_crash(attack, lie):
    """Sizes are checked before anything is made of them."""
    verdict = attack(
        f"""{FORGE}
def nested(depth):
    return {{"list": [nested(depth - 1)]}} if depth else None

def change(header, payload):
    if header.get("value") == "x":
        header["value"], payload = {lie}
        return payload

def double(x):
    return "x"

forge(change)
"""
    )
    assert verdict == (5, {"double": "crashed blocked blocked"}, "malformed")
