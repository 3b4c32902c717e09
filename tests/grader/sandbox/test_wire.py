"""Frames: what is packed arrives, what is wrong with those that are none, and no bytes do harm."""

import math
import struct
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox.plain_data import DTYPES
from grader.sandbox.stream import READ_BYTES, Reader, send
from grader.sandbox.wire import (
    MAX_DEPTH,
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    PREFIX,
    Frame,
    Packer,
    RemoteObject,
    Unpacker,
    Unsupported,
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
        (b"\xff\xfe{}", "a header is not JSON"),
        (b'{"a": NaN}', "a header is not JSON"),
        (b"[" * 200_000, "a header is not JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a header is not JSON"),
        (b"[]", "a header is not an object"),
    ],
)
def test_a_header_that_is_no_json_object_is_a_fault(text: bytes, message: str) -> None:
    """Whatever the bytes are, reading them ends in the one exception that callers expect."""
    with pytest.raises(WireFault) as caught:
        decode_header(text)
    assert str(caught.value) == message


IN_SETS = "a set holds something that does not travel in sets"
MORE_BYTES = "a value claims more bytes than the frame carries"
NO_DTYPE = "an array has a dtype that does not travel"
MALFORMED: list[tuple[Any, str]] = [
    ([1], "a value is neither plain nor a tagged object"),
    ({}, "a value is neither plain nor a tagged object"),
    ({"list": [], "tuple": []}, "a value is neither plain nor a tagged object"),
    ({"x" * 50: 1}, f"a value carries the unknown tag '{'x' * 40}'"),
    ({"float": "1.0"}, "a value carries the unknown tag 'float'"),
    ({"list": 3}, "a value carries the unknown tag 'list'"),
    ({"unsupported": 3}, "a value carries the unknown tag 'unsupported'"),
    ({"dict": [[1, 2, 3]]}, "a mapping is not a list of pairs"),
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
    ({"tensor": ["int8", [0] + [2**31 - 1] * 3, False, False]}, "a tensor has impossible sizes"),
    ({"tensor": ["int8", [2**31 - 1] * 15 + [0], False, False]}, "a tensor has impossible sizes"),
    ({"tensor": ["int8", [1], 0, False]}, "a tensor's flags are not true or false"),
    ({"tensor": ["int8", [5], False, False]}, "a tensor claims more bytes than the frame carries"),
    ({"tensor": ["bool", [4], False, False]}, "a boolean tensor holds bytes that are neither 0 nor 1"),
    ({"set": [{"list": []}]}, IN_SETS),
    ({"set": [2**61 - 1]}, IN_SETS),
    ({"set": [{"tuple": [n]} for n in range(4_001)]}, "a value has too many tuples in sets or as keys"),
    ({"bytes": 5}, MORE_BYTES),
    ({"bytes": -1}, MORE_BYTES),
    ({"bytes": True}, "a value carries the unknown tag 'bytes'"),
    ({"array": ["object", [1]]}, NO_DTYPE),
    ({"array": [["int8"], [1]]}, NO_DTYPE),
    ({"array": ["int8", [-1]]}, "a tensor's shape holds something other than sizes"),
    ({"array": ["int64", [2**30]]}, "a tensor claims more bytes than the frame carries"),
    ({"array": ["int8", [0, *[2**31 - 1] * 3]]}, "a tensor has impossible sizes"),
    ({"array": ["bool", [4]]}, "a boolean tensor holds bytes that are neither 0 nor 1"),
    ({"other float": 0.5}, "a number of another type is not a float and a name"),
    ({"other float": ["a", "b"]}, "a number of another type is not a float and a name"),
    ({"other float": [0.5, 1]}, "a number of another type is not a float and a name"),
    ({"other float": [1, "int"]}, "a number of another type is not a float and a name"),
    ({"function": "mse"}, "a value carries the unknown tag 'function'"),
    ({"dict": [[2**61 - 1, 1]]}, "a mapping has a huge number as a key"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("node", "message"), MALFORMED, ids=[str(node)[:60] for node, _ in MALFORMED]
)
def test_a_malformed_node_is_a_fault_that_says_what_is_wrong(node: Any, message: str) -> None:
    """Each rule of the protocol, broken once, over a payload of four bytes."""
    with pytest.raises(WireFault) as caught:
        Unpacker(b"\x02\x02\x02\x02").unpack(node)
    assert str(caught.value) == message


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


# Whatever the values and the bytes.

FEW = settings(max_examples=150)

SHAPES = st.lists(st.integers(0, 4), max_size=4)
TENSORS = st.builds(
    lambda name, shape: (
        (torch.arange(math.prod(shape)) % 5).reshape(shape).to(getattr(torch, name))
    ),
    st.sampled_from(sorted(DTYPES)),
    SHAPES,
)
KEYS = st.none() | st.booleans() | st.integers(-(2**59), 2**59) | st.text(max_size=5)
SETS_AND_BYTES = [
    *({1, 2.5, "a", b"b", None, (1, (b"c",)), frozenset({3})}, set(), frozenset({"x"})),
    *(b"", b"abc\x00", bytearray(b"q"), {b"x": frozenset({(1, 2)}), 1.5: 2**4_000}),
]
VALUES = st.recursive(
    KEYS | st.integers() | st.floats() | TENSORS | st.sampled_from(SETS_AND_BYTES),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)

SIZES = st.sampled_from([0, 1, 2, 3, 16, 2**31 - 1, 2**31, -1, 2**63, True, 1.5, "2"])
DESCRIPTIONS = st.tuples(
    st.sampled_from([*DTYPES, "object", 3]),
    st.lists(SIZES, max_size=17) | st.just("shape"),
    st.booleans() | st.just(1),
    st.booleans(),
).map(list)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
NODES = st.recursive(
    JSON | st.builds(lambda content: {"tensor": content}, DESCRIPTIONS | JSON),
    lambda inner: st.builds(
        lambda tag, content: {tag: content},
        st.sampled_from(["list", "tuple", "dict", "float", "reference", "unsupported", "other"]),
        st.lists(inner, max_size=3) | st.lists(st.lists(inner, min_size=2, max_size=2)) | JSON,
    ),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are of the same types and hold the same, NaN included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


PLAIN: Any = (
    int | float | str | list | tuple | dict | torch.Tensor | RemoteObject | Unsupported | None
)


def values_of(value: Any) -> list[Any]:
    """A value and everything inside it."""
    if isinstance(value, list | tuple):
        return [value, *(inner for item in value for inner in values_of(item))]
    if isinstance(value, dict):
        return [value, *(inner for item in value.values() for inner in values_of(item))]
    return [value]


@pytest.mark.slow
@FEW
@given(VALUES)
def test_whatever_is_packed_arrives_as_it_was(value: Any) -> None:
    """Through bytes and back, for any mixture of plain data and tensors."""
    packer = Packer()
    data = encode(Frame({"value": packer.pack(value)}, packer.payload()))
    frame = Reader().receive(Pipe(data, 99)).frame()
    unpacker = Unpacker(frame.payload)
    arrived = unpacker.unpack(frame.header["value"])
    unpacker.finish()
    assert same(arrived, value)


@pytest.mark.slow
@FEW
@given(NODES, st.binary(max_size=64))
def test_unpacking_ends_in_a_value_or_a_fault(node: Any, payload: bytes) -> None:
    """Whatever a header says over whatever bytes: no other exception, and plain data only."""
    unpacker = Unpacker(payload)
    try:
        value = unpacker.unpack(node)
        unpacker.finish()
    except WireFault:
        return
    assert all(isinstance(inner, PLAIN) for inner in values_of(value))
    tensors = [inner for inner in values_of(value) if isinstance(inner, torch.Tensor)]
    assert sum(tensor.numel() * tensor.element_size() for tensor in tensors) == len(payload)


@pytest.mark.slow
@FEW
@given(
    st.binary(max_size=40)
    | st.builds(
        lambda header, payload, rest: struct.pack("!II", header, payload) + rest,
        st.integers(0, 2**32 - 1) | st.integers(0, 40),
        st.integers(0, 2**32 - 1) | st.integers(0, 40),
        st.binary(max_size=80),
    )
)
def test_no_stream_makes_the_reader_ask_for_more_than_the_caps(data: bytes) -> None:
    """Reading ends in a frame, a fault or an end of file, and no buffer outgrows the caps."""
    stream = Pipe(data, 99)
    try:
        frame = Reader().receive(stream).frame()
    except (WireFault, EOFError):
        pass
    else:
        assert isinstance(frame.header, dict)
    assert stream.largest_read <= max(MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES, PREFIX.size)


@pytest.mark.slow
@FEW
@given(VALUES, st.data())
def test_a_frame_with_one_byte_changed_does_no_harm(value: Any, data: st.DataObject) -> None:
    """A damaged frame is read, refused, or seen to end early; nothing else happens."""
    packer = Packer()
    whole = bytearray(encode(Frame({"value": packer.pack(value)}, packer.payload())))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        frame = Reader().receive(Pipe(bytes(whole), 99)).frame()
        Unpacker(frame.payload).unpack(frame.header.get("value"))
    except (WireFault, EOFError):
        return
