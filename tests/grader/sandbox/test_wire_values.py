"""Tests of the values that frames carry: what arrives, and as what."""

import json
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from grader.sandbox.wire import (
    MAX_DEPTH,
    MAX_HEADER_BYTES,
    MAX_ITEMS,
    MAX_PAYLOAD_BYTES,
    MAX_TEXT,
    OtherFloat,
    Packer,
    RemoteObject,
    Unpacker,
    Unsupported,
)

Travel = Callable[[object], Any]


def test_special_numbers_in_a_tensor_arrive(travel: Travel) -> None:
    """A tensor's bytes are not looked at."""
    tensor = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    assert travel(tensor).view(torch.int32).tolist() == tensor.view(torch.int32).tolist()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).T,
        torch.arange(10)[::3],
        torch.tensor([1.0, 2.0]).expand(3, 2),
        torch.tensor([1 + 2j, 3 - 1j]).conj(),
        torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
    ],
    ids=["transposed", "strided", "expanded", "conjugated", "negated"],
)
def test_a_view_arrives_as_the_values_it_shows(tensor: torch.Tensor, travel: Travel) -> None:
    """The memory behind a view is laid out another way, or holds other values."""
    assert travel(tensor).tolist() == tensor.tolist()


def test_a_tensors_flags_arrive(travel: Travel) -> None:
    """Whether it is a parameter, and whether it requires a gradient."""
    plain, wants = torch.ones(2), torch.ones(2, requires_grad=True)
    frozen = nn.Parameter(torch.ones(2, dtype=torch.int64), requires_grad=False)
    arrived = travel([plain, wants, wants * 2, frozen, nn.Parameter(plain)])
    assert [t.requires_grad for t in arrived] == [False, True, True, False, True]
    assert [isinstance(t, nn.Parameter) for t in arrived] == [False] * 3 + [True] * 2
    assert all(t.is_leaf for t in arrived)


def test_what_arrives_is_writable_and_its_own() -> None:
    """Two tensors of one frame share no memory with each other or with the bytes."""
    packer = Packer()
    nodes = [packer.pack(torch.zeros(2)) for _ in range(2)]
    payload = packer.payload()
    unpacker = Unpacker(payload)
    one, two = (unpacker.unpack(node) for node in nodes)
    one += 1
    assert (two.tolist(), payload) == ([0.0, 0.0], bytes(16))


UNSUPPORTED = [
    (object(), "object"),
    (slice(1), "slice"),
    ({1, 2**70}, "a set of what does not travel"),
    ({object}, "a set of what does not travel"),
    (set(range(10**6)), "a set of 1000000 entries, more than may travel"),
    ({(n,) for n in range(4_001)}, "a set of 4001 entries, more than may travel"),
    (bytes(MAX_PAYLOAD_BYTES + 1), "bytes of 100663297 bytes, more than may travel"),
    (np.array([object()]), "numpy.ndarray of dtype object, which does not travel"),
    (np.array([b"a"]), "numpy.ndarray of dtype |S1, which does not travel"),
    (iter([1]), "list_iterator"),
    (torch.float32, "torch.dtype"),
    (2**5_000, "a huge int"),
    (torch.eye(2).to_sparse(), "a torch.sparse_coo tensor on cpu"),
    (torch.zeros(2, device="meta"), "a torch.strided tensor on meta"),
    (torch.zeros(2).to(torch.float8_e4m3fn), "a tensor of torch.float8_e4m3fn"),
]


@pytest.mark.parametrize(("value", "name"), UNSUPPORTED, ids=[name for _, name in UNSUPPORTED])
def test_what_cannot_travel_arrives_as_the_name_of_its_type(
    value: object, name: str, travel: Travel
) -> None:
    """Nothing is pickled; the name is enough for a sentence."""
    assert travel([value, 1]) == [Unsupported(name), 1]


def test_subclasses_of_plain_types_arrive_as_the_plain_types(travel: Travel) -> None:
    """No class of the student's is known on the other side."""

    class Text(str):
        __slots__ = ()

    value = [Text("a"), OrderedDict(a=1), torch.Size([2, 3]), nn.Parameter(torch.ones(1)).data]
    arrived = travel(value)
    assert [type(item) for item in arrived] == [str, dict, tuple, torch.Tensor]
    assert arrived[:3] == ["a", {"a": 1}, (2, 3)]


def test_a_long_text_is_cut_and_a_broken_one_mended(travel: Travel) -> None:
    """Text is untrusted: it is cut to size, and what is no Unicode is replaced."""
    assert travel("x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT
    assert travel("a\ud800b") == "a?b"


def test_a_value_that_contains_itself_is_cut_off(travel: Travel) -> None:
    """Depth is limited on the packing side."""
    loop: list[Any] = []
    loop.append(loop)
    arrived = travel(loop)
    for _ in range(MAX_DEPTH):
        (arrived,) = arrived
    assert arrived == [Unsupported("a value too deep or too long")]


def test_a_value_that_contains_itself_twice_is_cut_off() -> None:
    """The number of items is limited, too: two to the power of the depth would not end."""
    loop: list[Any] = []
    loop.extend([loop, loop])
    packer = Packer()
    packer.pack(loop)
    assert MAX_ITEMS < packer.items < MAX_ITEMS + 4 * MAX_DEPTH


@pytest.mark.parametrize(
    "value",
    [list(range(1_000_000)), dict.fromkeys(range(300_000)), ["\u2028" * 20_000] * 60],
    ids=["numbers", "keys", "texts"],
)
def test_a_value_of_very_many_items_still_makes_a_frame_that_may_travel(
    value: object,
) -> None:
    """A student who answers a long list has not broken the protocol."""
    header = json.dumps({"value": Packer().pack(value)})
    assert len(header) <= MAX_HEADER_BYTES


def test_a_tensor_too_large_for_a_frame_is_told_not_sent() -> None:
    """The cap counts for all tensors of one frame together."""
    packer, size = Packer(), MAX_PAYLOAD_BYTES // 2 + 1
    half = torch.zeros(size, dtype=torch.uint8)
    said = "a tensor of {} bytes, more than may travel"
    assert packer.pack(half) == {"tensor": ["uint8", [size], False, False]}
    assert packer.pack(half) == {"unsupported": said.format(size)}
    expanded = torch.zeros(1).expand(2**20, 2**20)  # its size is checked before it is laid out
    assert Packer().pack(expanded) == {"unsupported": said.format(4 * 2**40)}


@pytest.mark.parametrize("shape", [[1] * 17, [2**31, 0]], ids=["17 axes", "a huge empty axis"])
def test_a_tensor_whose_shape_may_not_travel_is_told_as_unsupported(
    shape: list[int], travel: Travel
) -> None:
    """What one side packs, the other can unpack."""
    assert type(travel(torch.zeros(shape))) is Unsupported


def test_objects_that_stay_become_references_and_back() -> None:
    """The packer asks what stays; the unpacker asks what a reference stands for."""
    stays = object()
    packer = Packer(lambda value: RemoteObject(7, "instance", "Head") if value is stays else None)
    node = packer.pack([stays, RemoteObject(8, "module", "Layer")])
    references = [7, "instance", "Head"], [8, "module", "Layer"]
    assert node == {"list": [{"reference": one} for one in references]}
    names = Unpacker(b"", lambda reference: f"{reference.type_name} {reference.number}")
    assert names.unpack(node) == ["Head 7", "Layer 8"]


def test_a_key_that_is_no_plain_value_gets_a_stand_in(travel: Travel) -> None:
    """A class or a tensor as a key is kept apart by its position."""
    found = travel({(1, b"x"): "a", None: "b", int: "c"})
    assert found == {(1, b"x"): "a", None: "b", "<key 2>": "c"}


def test_tuples_as_keys_have_an_end(travel: Travel) -> None:
    """Their hashes can be chosen."""
    arrived = travel({(number,): number for number in range(5_000)})
    assert next(key for key in arrived if isinstance(key, str)) == "<key 4000>"
    assert len(arrived) == 5_000


ARRAYS_THAT_TRAVEL = [
    *(np.arange(6, dtype="float32").reshape(2, 3), np.array(True), np.zeros((0, 4))),
    *(np.arange(5)[::-2], np.arange(3, dtype=">i4"), np.array([1 + 2j]), np.float16([0.5])),
]


@pytest.mark.parametrize("array", ARRAYS_THAT_TRAVEL, ids=lambda array: array.dtype.name)
def test_arrays_arrive_as_they_were(array: np.ndarray, travel: Travel) -> None:
    """Whatever their order in memory; they can be written to."""
    arrived = travel(array)
    assert arrived.dtype.name == array.dtype.name
    assert arrived.flags.writeable
    np.testing.assert_array_equal(arrived, array)


def test_a_set_is_packed_in_one_order() -> None:
    """Texts have other hashes in each process, and a recorded request is compared."""
    words = [f"w{number}" for number in range(50)]
    entries = [*words, *map(str.encode, words), frozenset(words)]
    one, other, entries_reversed = Packer(), Packer(), entries[::-1]
    assert one.pack(set(entries)) == other.pack(set(entries_reversed))
    assert one.payload() == other.payload()


@pytest.mark.parametrize("value", [0.5, math.nan, -math.inf])
def test_a_float_of_another_library_arrives_with_its_type(
    travel: Callable[[object], Any], value: float
) -> None:
    """It is a float like any other, and says what it was."""

    class Half(float):
        """Stands for numpy's."""

    arrived = travel(Half(value))
    assert isinstance(arrived, OtherFloat)
    assert arrived.type_name.endswith("Half")
    assert float(arrived) == value or math.isnan(value)
