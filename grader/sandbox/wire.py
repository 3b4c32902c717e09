"""Frames between the trusted side and the servant: a JSON header and raw bytes, never pickle.

A frame is `!II` (header length, payload length), the header as UTF-8 JSON, the payload. The
payload is the memory of tensors, arrays and bytes, one after the other, in the order in which the
header names them.
This module runs on both sides, beside student code as well; what it decodes is never trusted.
"""

import json
import math
import numbers
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from grader.sandbox import tables
from grader.sandbox.kinds import HASHED, STAYS, node_of, value_of
from grader.sandbox.plain_data import (
    ARRAYS,
    BYTES,
    DTYPES,
    MOST_ALIKE,
    SETS,
    OtherFloat,
    Settings,
    array_bytes,
    array_of,
    description_fault,
    in_order,
    is_array,
    is_key,
    type_name,
    why_no_set,
)
from grader.sandbox.torch_later import is_tensor, tensors

if TYPE_CHECKING:
    import torch

MAX_HEADER_BYTES = 4 * 2**20
MAX_PAYLOAD_BYTES = 96 * 2**20
MAX_DEPTH = 24
MAX_ITEMS = 20_000
MAX_TEXT = 20_000
MAX_INT_BITS = 4_096
MAX_KEY_BITS = 60
"""Python hashes integers modulo 2**61 - 1; keys of one hash make a mapping's cost quadratic."""
MAX_RANK = 16
MAX_AXIS = 2**31 - 1
MAX_VALUE_BYTES = MAX_HEADER_BYTES // 2
TRUTH_VALUES = ("numpy.bool", "numpy.bool_")
"""numpy's own, under both of its names."""
PREFIX = struct.Struct("!II")
BACK = "back"
"""The verb of a question that student code sends to the trusted side before it replies."""
BATCH = "batch"
"""The verb of a frame whose payload is other frames: several requests at once."""
FAILED = b'{"failure":'
"""How the header of a reply that is a failure begins; none of the rest of its batch is made."""


# Named, because `list | tuple` makes a union at each call, and there are thousands.
PLAIN = (bool, int, float, str)
ITEMS = (list, tuple)
SET_TYPES = tuple(SETS.values())
BYTES_TYPES = tuple(BYTES.values())


class WireFault(ValueError):
    """A frame or a value breaks the protocol."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: a JSON object and the bytes of its tensors."""

    header: dict[str, Any]
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """Something that stays where student code runs: an instance, or a class, function or module by kind.

    Args:
        number: which one, for an instance; 0 for anything that is only described.
        kind: "instance", "module" (an instance of `torch.nn.Module`), "class", "function".
        type_name: the name of its class, or its own name for a class or function.
    """

    number: int
    kind: str
    type_name: str


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function that stands where its name is looked up: in the file that is asked.

    Args:
        name: what the course calls it.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A value that does not travel; only the name of its type does."""

    type_name: str


@dataclass(slots=True)
class Packer:
    """Turns values into JSON nodes and collects the bytes of their tensors.

    Args:
        refer: returns a `RemoteObject` for an object that stays where it is, None for any other.
        shapes_only: tensors travel without their values.
        stays: the types of what travels as a description alone, or not at all.
    """

    refer: Callable[[object], RemoteObject | None] = lambda _: None
    shapes_only: bool = False
    chunks: list[bytes] = field(default_factory=list)
    size: int = 0
    items: int = 0
    text: int = 0
    stays: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether the header holds as much as may travel."""
        return self.items > MAX_ITEMS or self.text > MAX_VALUE_BYTES

    def payload(self) -> bytes:
        """The bytes of all tensors packed so far."""
        return b"".join(self.chunks)

    def clear(self) -> None:
        """Forget the bytes of what was packed and does not travel after all."""
        self.chunks.clear()
        self.size = 0

    def pack(self, value: object, depth: int = 0) -> Any:
        """The JSON node for a value; what cannot travel becomes its type's name."""
        self.items += 1
        if depth > MAX_DEPTH or self.is_full:
            return {"unsupported": "a value too deep or too long"}
        if value is None or isinstance(value, bool):
            return value
        if is_tensor(value):
            return self._tensor(value)
        if isinstance(value, numbers.Integral) and not tables.is_moment(value):  # numpy's, too
            number = int(value)
            return number if number.bit_length() <= MAX_INT_BITS else {"unsupported": "a huge int"}
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            real = float(value)
            node = real if math.isfinite(real) else {"float": repr(real)}
            name = type_name(value)
            return node if name == "float" else {"other float": [node, name]}
        if isinstance(value, str):
            text = str(value)[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
            self.text += len(json.dumps(text))
            return text
        reference = value if isinstance(value, RemoteObject) else self.refer(value)
        if reference is not None:
            return {"reference": [reference.number, reference.kind, reference.type_name[:200]]}
        if isinstance(value, ITEMS):
            key = "list" if isinstance(value, list) else "tuple"
            return {key: list(self._items(value, depth))}
        if isinstance(value, SET_TYPES):
            if why := why_no_set(value, MAX_ITEMS, MAX_KEY_BITS):
                return {"unsupported": why}
            key = "set" if isinstance(value, set) else "frozenset"
            return {key: list(self._items(in_order(value), depth))}
        if isinstance(value, BYTES_TYPES):
            key = "bytes" if isinstance(value, bytes) else "bytearray"
            return self._chunk(key, len(value), value, "bytes")
        if isinstance(value, NamedFunction):
            return {"function": value.name}
        if is_array(value):
            return self._array(value, depth)
        if isinstance(value, Mapping):
            pairs = takewhile(lambda _pair: not self.is_full, value.items())
            tag = "settings" if isinstance(value, Settings) else "dict"
            return {tag: [list(self._items(pair, depth)) for pair in pairs]}
        if isinstance(value, Unsupported):
            return {"unsupported": value.type_name}
        name = type_name(value)
        if name in TRUTH_VALUES:
            return bool(value)
        made = self._other(value, partial(self.pack, depth=depth + 1))
        if isinstance(made, str):
            self.stays.append(made)
            return {"unsupported": made}
        if made is None or "enum" in made or "record" in made:
            self.stays.append(value.type_name if isinstance(value, STAYS) else name)
        return {"unsupported": name} if made is None else made

    def _items(self, values: Iterable[Any], depth: int) -> Iterator[Any]:
        """Nodes; after the first that no longer fits there are none."""
        for value in values:
            full = self.is_full
            yield self.pack(value, depth + 1)
            if full:
                return

    def _other(self, value: object, pack: Callable[[object], Any]) -> dict[str, Any] | str | None:
        """The node of a further kind of value; of a table that does not travel, why."""
        count, size = len(self.chunks), self.size
        try:
            node = tables.node_of(value, pack)
            if node and self.is_full:  # some of its entries are left out
                raise tables.NoTravel("more than may travel")
            return node or node_of(value, pack)
        except tables.NoTravel as error:
            del self.chunks[count:]
            self.size = size
            return f"{type_name(value)} with {error}"

    def _array(self, array: Any, depth: int) -> Any:
        is_large = array.nbytes > MAX_PAYLOAD_BYTES or array.ndim > MAX_RANK
        is_long = array.dtype.kind in "OU" and self.items + array.size > MAX_ITEMS
        pack = partial(self.pack, depth=depth + 1)
        if not is_large and not is_long and (node := tables.array_node(array, pack)):
            return node
        found = None if is_large else array_bytes(array)
        if found is None:
            self.stays.append(f"numpy.ndarray of {array.dtype}")
            what = f"{array.nbytes} bytes" if is_large else f"dtype {array.dtype}"
            return {"unsupported": f"numpy.ndarray of {what}, which does not travel"}
        return self._chunk("array", *found, "a numpy array")

    def _chunk(self, tag: str, content: Any, chunk: bytes | bytearray, what: str) -> Any:
        """A node whose bytes are part of the payload, as far as they may travel."""
        if self.size + len(chunk) > MAX_PAYLOAD_BYTES:
            return {"unsupported": f"{what} of {len(chunk)} bytes, more than may travel"}
        self.chunks.append(bytes(chunk))
        self.size += len(chunk)
        return {tag: content}

    def _tensor(self, tensor: "torch.Tensor") -> Any:
        description = tensors.description(tensor)
        if isinstance(description, str):
            return {"unsupported": description}
        dtype, shape, *_flags = description
        if len(shape) > MAX_RANK or any(length > MAX_AXIS for length in shape):
            return {"unsupported": f"a tensor of {len(shape)} axes"}
        if self.shapes_only:
            return {"shape": description}
        size = math.prod(shape) * DTYPES[dtype]
        if self.size + size > MAX_PAYLOAD_BYTES:
            return {"unsupported": f"a tensor of {size} bytes, more than may travel"}
        return self._chunk("tensor", description, tensors.memory(tensor), "a tensor")


@dataclass(slots=True)
class Unpacker:
    """Rebuilds values from JSON nodes and bytes, checking every size before it allocates.

    Args:
        resolve: what a `RemoteObject` becomes on this side.
        find: what a `NamedFunction` becomes; without it none is expected.
        takes_shapes: whether tensors without values are expected.

    Raises:
        WireFault: when header and bytes do not agree.
    """

    payload: bytes
    resolve: Callable[[RemoteObject], object] = lambda reference: reference
    takes_shapes: bool = False
    find: Callable[[str], object] | None = None
    offset: int = 0
    items: int = 0
    alike: int = 0

    def unpack(self, node: Any, depth: int = 0) -> Any:
        """The value a node stands for."""
        self.items += 1
        if depth > 2 * MAX_DEPTH:
            raise WireFault("a value is nested too deeply")
        if self.items > 4 * MAX_ITEMS:
            raise WireFault("a value has too many parts")
        if node is None or isinstance(node, PLAIN):
            return node
        if not isinstance(node, dict) or len(node) != 1:
            raise WireFault("a value is neither plain nor a tagged object")
        ((tag, content),) = node.items()
        if tag == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "other float":
            return self._other_float(content, depth)
        if tag == "tensor":
            return self._tensor(content)
        if tag == "shape" and self.takes_shapes:
            dtype, shape, *flags = _tensor_description(content)
            return tensors.flagged(_without_values(dtype, shape, "meta"), *flags)
        if tag == "reference":
            return self.resolve(_reference(content))
        if tag == "unsupported" and isinstance(content, str):
            return Unsupported(content[:200])
        if tag in ("list", "tuple") and isinstance(content, list):
            items = [self.unpack(item, depth + 1) for item in content]
            return items if tag == "list" else tuple(items)
        if tag in ("dict", "settings") and isinstance(content, list):
            mapping = self._mapping(content, depth)
            return Settings(mapping) if tag == "settings" else mapping
        if tag in SETS and isinstance(content, list):
            return SETS[tag](self._key(self.unpack(item, depth + 1)) for item in content)
        if tag in BYTES and type(content) is int:
            return BYTES[tag](self._take(content))
        if tag == "array":
            return self._array(content)
        if tag == "function" and self.find is not None and isinstance(content, str):
            return self.find(content)
        try:
            further = tables.value_of if tag in tables.TAGS else value_of
            return further(tag, content, lambda part: self.unpack(part, depth + 1))
        except LookupError:
            raise WireFault(f"a value carries the unknown tag {tag[:40]!r}") from None
        except WireFault:
            raise
        except ValueError as error:
            raise WireFault(f"a value is no {tag[:40]}") from error

    def _other_float(self, content: Any, depth: int) -> OtherFloat:
        match content:
            case [node, str(name)] if isinstance(value := self.unpack(node, depth + 1), float):
                return OtherFloat(value, name[:200])
        raise WireFault("a number of another type is not a float and a name")

    def _mapping(self, content: list[Any], depth: int) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for pair in content:
            if not isinstance(pair, list) or len(pair) != 2:
                raise WireFault("a mapping is not a list of pairs")
            key = self.unpack(pair[0], depth + 1)
            if isinstance(key, int) and key.bit_length() > MAX_KEY_BITS:
                raise WireFault("a mapping has a huge number as a key")
            is_plain = is_key(key, MAX_KEY_BITS) and self.alike < MOST_ALIKE
            key = self._key(key) if is_plain else f"<key {len(mapping)}>"
            mapping[key] = self.unpack(pair[1], depth + 1)
        return mapping

    def _key(self, value: Any) -> Any:
        """What may be in a set, or a key."""
        if not is_key(value, MAX_KEY_BITS):
            raise WireFault("a set holds something that does not travel in sets")
        self.alike += isinstance(value, (tuple, frozenset, *HASHED))
        if self.alike > MOST_ALIKE:
            raise WireFault("a value has too many tuples in sets or as keys")
        return value

    def _array(self, content: Any) -> Any:
        match content:
            case [str(dtype), list(sizes)] if dtype in ARRAYS:
                _dtype, shape, *_flags = _tensor_description(["int64", sizes, False, False])
            case _:
                raise WireFault("an array has a dtype that does not travel")
        chunk = self._values(dtype, shape)
        try:
            return array_of(dtype, shape, chunk)
        except ValueError as error:
            raise _impossible() from error

    def _take(self, size: int) -> bytes:
        """The next bytes of the payload."""
        if not 0 <= size <= len(self.payload) - self.offset:
            raise WireFault("a value claims more bytes than the frame carries")
        self.offset += size
        return self.payload[self.offset - size : self.offset]

    def _values(self, dtype: str, shape: list[int]) -> bytearray:
        """The next bytes of the payload, as the memory of a tensor or an array."""
        size = math.prod(shape) * (DTYPES.get(dtype) or ARRAYS[dtype])
        if self.offset + size > len(self.payload):
            raise WireFault("a tensor claims more bytes than the frame carries")
        chunk = bytearray(memoryview(self.payload)[self.offset : self.offset + size])
        if dtype == "bool" and chunk.strip(b"\x00\x01"):
            raise WireFault("a boolean tensor holds bytes that are neither 0 nor 1")
        self.offset += size
        return chunk

    def _tensor(self, content: Any) -> "torch.Tensor":
        dtype, shape, *flags = _tensor_description(content)
        chunk = self._values(dtype, shape)
        if not chunk:
            return tensors.flagged(_without_values(dtype, shape, "cpu"), *flags)
        return tensors.flagged(tensors.from_memory(dtype, shape, chunk), *flags)

    def finish(self) -> None:
        """Check that every byte of the payload was claimed.

        Raises:
            WireFault: when bytes are left over.
        """
        if self.offset != len(self.payload):
            raise WireFault("the frame carries bytes that no tensor claims")


def _without_values(dtype: str, shape: list[int], device: str) -> "torch.Tensor":
    try:
        return tensors.without_values(dtype, shape, device)
    except RuntimeError as error:
        raise _impossible() from error


def _impossible() -> WireFault:
    return WireFault("a tensor has impossible sizes")


def _reference(content: Any) -> RemoteObject:
    match content:
        case [int(number), str(kind), str(name)] if type(number) is int:
            return RemoteObject(number, kind[:20], name[:200])
    raise WireFault("a reference is not number, kind and name")


def _tensor_description(content: Any) -> tuple[str, list[int], bool, bool]:
    if fault := description_fault(content, MAX_RANK):
        raise WireFault(fault)
    dtype, shape, parameter, requires_grad = content
    return dtype, shape, parameter, requires_grad


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Not as ASCII: an emoji would take 12 bytes instead of 4.
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def encode(frame: Frame) -> bytes:
    """A frame as bytes."""
    header = _ENCODER.encode(frame.header).encode("utf-8", "surrogatepass")
    return PREFIX.pack(len(header), len(frame.payload)) + header + frame.payload


def batch(requests: Iterable[bytes]) -> bytes:
    """One frame with several encoded requests."""
    return encode(Frame({"verb": BATCH}, b"".join(requests)))


def unbatched(frame: Frame) -> Iterator[Frame]:
    """The requests in a frame: itself, unless it is a batch."""
    if frame.header.get("verb") != BATCH:
        yield frame
        return
    for header, payload in split(frame.payload):
        yield Frame(decode_header(header), payload)


def split(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The headers and payloads of encoded frames, one after the other."""
    start = 0
    while start < len(content):
        header, payload = PREFIX.unpack_from(content, start)
        middle = start + PREFIX.size + header
        yield content[start + PREFIX.size : middle], content[middle : middle + payload]
        start = middle + payload


def decode_header(text: bytes) -> dict[str, Any]:
    """A frame's header.

    Raises:
        WireFault: when it is not a JSON object.
    """
    try:
        header = _DECODER.decode(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError, UnicodeDecodeError) as error:
        raise WireFault("a header is not JSON") from error
    if not isinstance(header, dict):
        raise WireFault("a header is not an object")
    return header
