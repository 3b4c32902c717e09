"""Tests of frames: how they are read, and what is wrong with those that are none."""

from typing import Any

import pytest

from grader.sandbox.stream import READ_BYTES, Reader, send
from grader.sandbox.wire import (
    MAX_DEPTH,
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    PREFIX,
    Frame,
    Unpacker,
    WireFault,
    decode_header,
    encode,
)


class Pipe:
    """A stream in memory that hands out a few bytes at a time, and remembers what it is asked."""

    def __init__(self, data: bytes = b"", at_once: int = 3) -> None:
        self.data = data
        self.at_once = at_once
        self.largest_read = 0

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read a few bytes."""
        self.largest_read = max(self.largest_read, len(buffer))
        count = min(len(buffer), self.at_once, len(self.data))
        buffer[:count] = self.data[:count]
        self.data = self.data[count:]
        return count

    def sendall(self, data: bytes, /) -> None:
        """Write all of it."""
        self.data += data


def test_a_frame_is_its_two_lengths_the_header_and_the_payload() -> None:
    """The layout that both sides rely on."""
    expected = b"\x00\x00\x00\x07\x00\x00\x00\x02" + b'{"a":1}' + b"\x01\x02"
    assert encode(Frame({"a": 1}, b"\x01\x02")) == expected


def test_a_frame_arrives_as_it_was_sent_however_it_is_cut() -> None:
    """Sockets deliver what they like; a frame is put together from any pieces."""
    pipe = Pipe(at_once=1)
    send(pipe, Frame({"text": "Ü\ud800"}, b"12345"))
    assert Reader().receive(pipe).frame() == Frame({"text": "Ü\ud800"}, b"12345")


@pytest.mark.parametrize("length", [0, 4, 8, 12, 15])
def test_a_stream_that_ends_inside_a_frame_is_told_apart(length: int) -> None:
    """An end of file is no broken frame: the process on the other side is gone."""
    data = encode(Frame({"a": 1}, b"\x01\x02"))[:length]
    with pytest.raises(EOFError, match=r"^the stream ended inside a frame$"):
        Reader().receive(Pipe(data)).frame()


@pytest.mark.parametrize(
    "sizes", [(MAX_HEADER_BYTES + 1, 0), (2, MAX_PAYLOAD_BYTES + 1), (2**32 - 1, 2**32 - 1)]
)
def test_a_frame_that_announces_too_much_is_refused_before_it_is_read(
    sizes: tuple[int, int],
) -> None:
    """No buffer is made for sizes above the caps; what was read is one fixed buffer at most."""
    pipe = Pipe(PREFIX.pack(*sizes) + b"{}")
    with pytest.raises(WireFault, match=r"^a frame announces more bytes than may travel$"):
        Reader().receive(pipe).frame()
    assert pipe.largest_read == READ_BYTES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "a header is not JSON"),
        (b"{", "a header is not JSON"),
        (b"\xff\xfe{}", "a header is not JSON"),
        (b'{"a": NaN}', "a header is not JSON"),
        (b'{"a": -Infinity}', "a header is not JSON"),
        (b"[" * 200_000, "a header is not JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a header is not JSON"),
        (b"[]", "a header is not an object"),
        (b"3", "a header is not an object"),
    ],
)
def test_a_header_that_is_no_json_object_is_a_fault(text: bytes, message: str) -> None:
    """Whatever the bytes are, reading them ends in the one exception that callers expect."""
    with pytest.raises(WireFault) as caught:
        decode_header(text)
    assert str(caught.value) == message


MALFORMED = [
    ([1], "a value is neither plain nor a tagged object"),
    ({}, "a value is neither plain nor a tagged object"),
    ({"list": [], "tuple": []}, "a value is neither plain nor a tagged object"),
    ({"x" * 50: 1}, f"a value carries the unknown tag '{'x' * 40}'"),
    ({"float": "1.0"}, "a value carries the unknown tag 'float'"),
    ({"float": ["nan"]}, "a value carries the unknown tag 'float'"),
    ({"list": 3}, "a value carries the unknown tag 'list'"),
    ({"unsupported": 3}, "a value carries the unknown tag 'unsupported'"),
    ({"dict": [[1, 2, 3]]}, "a mapping is not a list of pairs"),
    ({"dict": [7]}, "a mapping is not a list of pairs"),
    ({"reference": [1, "module"]}, "a reference is not number, kind and name"),
    ({"reference": ["1", "module", "Head"]}, "a reference is not number, kind and name"),
    ({"reference": [True, "module", "Head"]}, "a reference is not number, kind and name"),
    ({"tensor": ["float32", [1], False]}, "a tensor is not dtype, shape and two flags"),
    ({"tensor": ["object", [1], False, False]}, "a tensor has a dtype that does not travel"),
    ({"tensor": [["float32"], [1], False, False]}, "a tensor has a dtype that does not travel"),
    ({"tensor": ["float32", 1, False, False]}, "a tensor's shape is not a short list"),
    ({"tensor": ["float32", [1] * 17, False, False]}, "a tensor's shape is not a short list"),
    ({"tensor": ["int8", [-1], False, False]}, "a tensor's shape holds something other than sizes"),
    ({"tensor": ["int8", [2.0], False, False]}, "a tensor's shape holds something other than sizes"),
    ({"tensor": ["int8", [True], False, False]}, "a tensor's shape holds something other than sizes"),
    ({"tensor": ["int8", [1], 0, False]}, "a tensor's flags are not true or false"),
    ({"tensor": ["int8", [5], False, False]}, "a tensor claims more bytes than the frame carries"),
    ({"tensor": ["bool", [4], False, False]}, "a boolean tensor holds bytes that are neither 0 nor 1"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "message"), MALFORMED, ids=[str(node) for node, _ in MALFORMED])
def test_a_malformed_node_is_a_fault_that_says_what_is_wrong(node: Any, message: str) -> None:
    """Each rule of the protocol, broken once, over a payload of four bytes."""
    with pytest.raises(WireFault) as caught:
        Unpacker(b"\x02\x02\x02\x02").unpack(node)
    assert str(caught.value) == message


@pytest.mark.parametrize("shape", [[0] + [2**31 - 1] * 3, [2**31 - 1] * 15 + [0]], ids=len)
def test_an_empty_tensor_of_impossible_sizes_is_a_fault(shape: list[int]) -> None:
    """No bytes are claimed, and yet torch cannot make such a tensor."""
    with pytest.raises(WireFault):
        Unpacker(b"").unpack({"tensor": ["float32", shape, False, False]})


def test_a_value_nested_too_deeply_is_a_fault() -> None:
    """A header may nest deeper than any value that was packed."""
    node: Any = 1
    for _ in range(2 * MAX_DEPTH + 1):
        node = {"list": [node]}
    with pytest.raises(WireFault, match=r"^a value is nested too deeply$"):
        Unpacker(b"").unpack(node)


def test_bytes_that_no_tensor_claims_are_a_fault() -> None:
    """Header and byte count have to agree."""
    unpacker = Unpacker(b"\x00\x00")
    unpacker.unpack({"tensor": ["int8", [1], False, False]})
    with pytest.raises(WireFault, match=r"^the frame carries bytes that no tensor claims$"):
        unpacker.finish()
