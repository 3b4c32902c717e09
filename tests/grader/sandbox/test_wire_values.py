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

from grader.sandbox.plain_data import DTYPES
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
    WireFault,
)

Travel = Callable[[object], Any]

PLAIN = [
    *(None, True, False, 0, -3, 2**4_000, 1.5, -0.0, "", "Grüße", "a\x00b"),
    *([], [1, [2.5, None]], (), (1, ("a",)), {}, {"a": [1, (2,)], 3: None, 1.5: "x", True: "t"}),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_data_arrives_as_it_was(value: object, travel: Travel) -> None:
    """Lists stay lists, tuples stay tuples, and keys keep their types."""
    arrived = travel(value)
    assert (repr(arrived), type(arrived)) == (repr(value), type(value))


def test_what_no_json_holds_arrives_all_the_same(travel: Travel) -> None:
    """NaN and the infinities travel by name."""
    nan, *infinities = travel([math.nan, math.inf, -math.inf])
    assert math.isnan(nan)
    assert infinities == [math.inf, -math.inf]


@pytest.mark.parametrize("name", list(DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_a_tensor_arrives_with_dtype_shape_and_every_bit(
    name: str, shape: tuple[int, ...], travel: Travel
) -> None:
    """All dtypes of the list, with scalars and empty shapes."""
    tensor = (torch.arange(24.0)[: math.prod(shape)].reshape(shape) - 3).to(getattr(torch, name))
    arrived = travel(tensor)
    assert (arrived.dtype, arrived.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(arrived, tensor)


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, -0.0])
def test_special_numbers_in_a_tensor_arrive(special: float, travel: Travel) -> None:
    """A tensor's bytes are not looked at."""
    tensor = torch.tensor([special, 1.0])
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
    tensors = [
        torch.ones(2),
        torch.ones(2, requires_grad=True),
        nn.Parameter(torch.ones(2)),
        nn.Parameter(torch.ones(2, dtype=torch.int64), requires_grad=False),
        torch.ones(2, requires_grad=True) * 2,
    ]
    flags = [(isinstance(t, nn.Parameter), t.requires_grad, t.is_leaf) for t in travel(tensors)]
    assert flags == [
        (False, False, True),
        (False, True, True),
        (True, True, True),
        (True, False, True),
        (False, True, True),
    ]


def test_several_tensors_share_one_payload(travel: Travel) -> None:
    """They stand one after the other, in the order in which the header names them."""
    value = {"a": torch.tensor([1.0]), "b": (torch.tensor([2, 3]), torch.tensor(True))}
    arrived = travel(value)
    assert [arrived["a"].tolist(), arrived["b"][0].tolist(), arrived["b"][1].item()] == [
        [1.0],
        [2, 3],
        True,
    ]


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
    value: object, travel: Travel
) -> None:
    """A student who answers a long list has not broken the protocol."""
    header = json.dumps({"value": Packer().pack(value)})
    assert len(header) <= MAX_HEADER_BYTES


def test_a_tensor_too_large_for_a_frame_is_told_not_sent() -> None:
    """The cap counts for all tensors of one frame together."""
    packer = Packer()
    half = torch.zeros(MAX_PAYLOAD_BYTES // 2 + 1, dtype=torch.uint8)
    nodes = [packer.pack(half), packer.pack(half)]
    size = MAX_PAYLOAD_BYTES // 2 + 1
    assert nodes == [
        {"tensor": ["uint8", [size], False, False]},
        {"unsupported": f"a tensor of {size} bytes, more than may travel"},
    ]


def test_a_tensor_that_is_large_only_by_expansion_is_told_not_copied() -> None:
    """Its size is checked before its memory is laid out."""
    size = 4 * 2**40
    expected = {"unsupported": f"a tensor of {size} bytes, more than may travel"}
    assert Packer().pack(torch.zeros(1).expand(2**20, 2**20)) == expected


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
    assert node == {
        "list": [{"reference": [7, "instance", "Head"]}, {"reference": [8, "module", "Layer"]}]
    }
    names = Unpacker(b"", lambda reference: f"{reference.type_name} {reference.number}")
    assert names.unpack(node) == ["Head 7", "Layer 8"]


def test_a_key_that_is_no_plain_value_gets_a_stand_in(travel: Travel) -> None:
    """A class or a tensor as a key is kept apart by its position."""
    assert travel({(1, b"x"): "a", None: "b", int: "c"}) == {
        (1, b"x"): "a",
        None: "b",
        "<key 2>": "c",
    }


def test_tuples_as_keys_have_an_end(travel: Travel) -> None:
    """Their hashes can be chosen."""
    arrived = travel({(number,): number for number in range(5_000)})
    assert next(key for key in arrived if isinstance(key, str)) == "<key 4000>"
    assert len(arrived) == 5_000


SETS_AND_BYTES = [
    *({1, 2.5, "a", b"b", None, (1, (b"c",)), frozenset({3})}, set(), frozenset({"x"})),
    *(b"", b"abc\x00", bytearray(b"q"), {"a": {b"x": frozenset({(1, 2)})}}),
]


@pytest.mark.parametrize("value", SETS_AND_BYTES, ids=lambda value: type(value).__name__)
def test_sets_and_bytes_arrive_as_they_were(value: object, travel: Travel) -> None:
    """Of their own kinds, with all that may be in them."""
    arrived = travel([value, torch.ones(2)])
    assert (arrived[0], type(arrived[0])) == (value, type(value))
    assert arrived[1].tolist() == [1.0, 1.0]


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
    packers = [Packer(), Packer()]
    nodes = [
        packer.pack(set(order))
        for packer, order in zip(packers, (entries, entries[::-1]), strict=True)
    ]
    assert nodes[0] == nodes[1]
    assert packers[0].payload() == packers[1].payload()


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"set": [{"list": []}]}, "a set holds something that does not travel in sets"),
        ({"set": [2**61 - 1]}, "a set holds something that does not travel in sets"),
        (
            {"set": [{"tuple": [n]} for n in range(4_001)]},
            "a value has too many tuples in sets or as keys",
        ),
        ({"bytes": 9}, "a value claims more bytes than the frame carries"),
        ({"bytes": -1}, "a value claims more bytes than the frame carries"),
        ({"bytes": True}, "a value carries the unknown tag 'bytes'"),
        ({"array": ["object", [1]]}, "an array has a dtype that does not travel"),
        ({"array": [["int8"], [1]]}, "an array has a dtype that does not travel"),
        ({"array": ["int8", [-1]]}, "a tensor's shape holds something other than sizes"),
        ({"array": ["int64", [2**30]]}, "a tensor claims more bytes than the frame carries"),
        (
            {"array": ["int8", [0, 2**31 - 1, 2**31 - 1, 2**31 - 1]]},
            "a tensor has impossible sizes",
        ),
        ({"array": ["bool", [8]]}, "a boolean tensor holds bytes that are neither 0 nor 1"),
        ({"function": "mse"}, "a value carries the unknown tag 'function'"),
    ],
)
def test_sets_bytes_and_arrays_that_lie_are_refused(node: Any, said: str) -> None:
    """Sizes are checked before anything is made; a reply names no function."""
    with pytest.raises(WireFault, match=f"^{said}$"):
        Unpacker(b"12345678").unpack(node)


def test_a_huge_number_as_a_key_is_refused() -> None:
    """Keys of one hash would make the cost of a mapping the square of its size."""
    node = {"dict": [[2**61 - 1, 1], [2 * (2**61 - 1), 2]]}
    with pytest.raises(WireFault, match=r"^a mapping has a huge number as a key$"):
        Unpacker(b"").unpack(node)


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


@pytest.mark.parametrize("content", [0.5, [0.5], ["a", "b"], [0.5, 1], [1, "int"]])
def test_a_float_of_another_library_that_is_none_is_refused(content: object) -> None:
    """Anything but a float and a name."""
    with pytest.raises(WireFault, match="number of another type"):
        Unpacker(b"").unpack({"other float": content})
