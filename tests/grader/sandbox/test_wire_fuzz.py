"""Properties of the wire: what is packed arrives, and no bytes do harm."""

import math
import struct
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox.plain_data import DTYPES
from grader.sandbox.stream import Reader
from grader.sandbox.wire import (
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

pytestmark = pytest.mark.slow

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
VALUES = st.recursive(
    KEYS | st.integers() | st.floats() | TENSORS,
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


class Bytes:
    """A stream of some bytes, which remembers the most it was asked for at once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.largest_read = 0

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read what is there."""
        self.largest_read = max(self.largest_read, len(buffer))
        count = min(len(buffer), len(self.data))
        buffer[:count] = self.data[:count]
        self.data = self.data[count:]
        return count

    def sendall(self, data: bytes, /) -> None:
        """Nothing is written here."""


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
    return bool(one == other) or (one != one and other != other)


def values_of(value: Any) -> list[Any]:
    """A value and everything inside it."""
    if isinstance(value, list | tuple):
        return [value, *(inner for item in value for inner in values_of(item))]
    if isinstance(value, dict):
        return [value, *(inner for item in value.values() for inner in values_of(item))]
    return [value]


@FEW
@given(VALUES)
def test_whatever_is_packed_arrives_as_it_was(value: Any) -> None:
    """Through bytes and back, for any mixture of plain data and tensors."""
    packer = Packer()
    data = encode(Frame({"value": packer.pack(value)}, packer.payload()))
    frame = Reader().receive(Bytes(data)).frame()
    unpacker = Unpacker(frame.payload)
    arrived = unpacker.unpack(frame.header["value"])
    unpacker.finish()
    assert same(arrived, value)


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
    known = (
        int,
        float,
        str,
        list,
        tuple,
        dict,
        torch.Tensor,
        RemoteObject,
        Unsupported,
        type(None),
    )
    assert all(isinstance(inner, known) for inner in values_of(value))
    tensors = [inner for inner in values_of(value) if isinstance(inner, torch.Tensor)]
    assert sum(tensor.numel() * tensor.element_size() for tensor in tensors) == len(payload)


@FEW
@given(st.binary(max_size=200) | JSON.map(lambda value: repr(value).encode("utf-8", "replace")))
def test_reading_a_header_ends_in_an_object_or_a_fault(text: bytes) -> None:
    """No bytes lead to any other exception."""
    try:
        assert isinstance(decode_header(text), dict)
    except WireFault:
        return


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
    stream = Bytes(data)
    try:
        frame = Reader().receive(stream).frame()
    except (WireFault, EOFError):
        pass
    else:
        assert isinstance(frame.header, dict)
    assert stream.largest_read <= max(MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES, PREFIX.size)


@FEW
@given(VALUES, st.data())
def test_a_frame_with_one_byte_changed_does_no_harm(value: Any, data: st.DataObject) -> None:
    """A damaged frame is read, refused, or seen to end early; nothing else happens."""
    packer = Packer()
    whole = bytearray(encode(Frame({"value": packer.pack(value)}, packer.payload())))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        frame = Reader().receive(Bytes(bytes(whole))).frame()
        Unpacker(frame.payload).unpack(frame.header.get("value"))
    except (WireFault, EOFError):
        return
