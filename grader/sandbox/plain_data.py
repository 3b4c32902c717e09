"""Numbers, sets, bytes and numpy's arrays as they travel: how they are packed, and checked on arrival.

It runs on both sides, beside student code as well.
"""

import importlib
import numbers
import sys
from collections.abc import Iterable
from typing import Any

from grader.sandbox.kinds import HASHED, EnumMember

MOST_ALIKE = 4_000
"""Tuples in a set, or as keys: their hashes can be chosen so that all of them are the same."""

SETS = {"set": set, "frozenset": frozenset}
BYTES = {"bytes": bytes, "bytearray": bytearray}
SCALARS = (str, int, float, bool, bytes, type(None))

SIZES = {
    1: ("int8", "uint8", "bool"),
    2: ("float16", "bfloat16", "int16"),
    4: ("float32", "int32"),
    8: ("float64", "complex64", "int64"),
    16: ("complex128",),
}
DTYPES = {name: size for size, names in SIZES.items() for name in names}
"""The dtypes of tensors that travel, by name, each with the bytes of one value."""
ARRAYS = {name: size for name, size in DTYPES.items() if name != "bfloat16"}
ARRAYS |= {"uint16": 2, "uint32": 4, "uint64": 8}
"""The same of arrays."""


class OtherFloat(float):
    """A float that is no float of Python's own, like numpy's; its value is all that counts.

    Args:
        value: the number.
        type_name: what it is.
    """

    def __new__(cls, value: float, type_name: str) -> "OtherFloat":
        """A float with the name of its type."""
        made = super().__new__(cls, value)
        made.type_name = type_name
        return made

    type_name: str


class Settings(dict[str, Any]):
    """Arguments by all their names, for code that takes them in one: as keys, or as attributes."""

    def __getattr__(self, name: str) -> Any:
        """The argument of this name."""
        if name in self:
            return self[name]
        raise AttributeError(f"the settings that a check gives have no {name!r}")

    def __repr__(self) -> str:
        """As it is made: it is no plain dict."""
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def type_name(value: object) -> str:
    """The name of a value's class, cut to a sane length."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")[:200]


def is_array(value: object) -> bool:
    """Whether a value is one of numpy's arrays; nobody has one before numpy is imported."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def seed_numpy(seed: int) -> None:
    """Seed the numbers that numpy draws without a generator, where code mentions numpy (`limits.libraries_in`)."""
    chance = sys.modules.get("numpy.random")
    if chance is not None:
        chance.seed(seed % 2**32)


def array_bytes(array: Any) -> tuple[list[Any], bytes] | None:
    """The description of an array and its memory, None where its dtype does not travel."""
    name = array.dtype.name
    if name not in ARRAYS:
        return None
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return [name, list(array.shape)], native.tobytes()


def array_of(dtype: str, shape: list[int], chunk: bytearray) -> Any:
    """An array of these values.

    Raises:
        ValueError: when an empty one has impossible sizes.
    """
    numpy: Any = importlib.import_module("numpy")
    if not chunk:
        return numpy.empty(shape, dtype)
    return numpy.frombuffer(chunk, dtype).reshape(shape)


def description_fault(content: Any, max_rank: int) -> str:
    """What is wrong with a tensor's dtype, shape and two flags as they arrived; "" for nothing."""
    if not isinstance(content, list) or len(content) != 4:
        return "a tensor is not dtype, shape and two flags"
    dtype, shape, *flags = content
    if not isinstance(dtype, str) or dtype not in DTYPES:
        return "a tensor has a dtype that does not travel"
    if not isinstance(shape, list) or len(shape) > max_rank:
        return "a tensor's shape is not a short list"
    if any(type(size) is not int or not 0 <= size < 2**31 for size in shape):
        return "a tensor's shape holds something other than sizes"
    is_flagged = all(type(flag) is bool for flag in flags)
    return "" if is_flagged else "a tensor's flags are not true or false"


def why_no_set(items: Any, most: int, max_bits: int) -> str:
    """Why a set does not travel; "" where it does.

    Args:
        items: the set.
        most: how many entries may travel.
        max_bits: of an integer in it.
    """
    alike = sum(isinstance(item, (tuple, frozenset, *HASHED)) for item in items)
    if len(items) > most or alike > MOST_ALIKE:
        return f"a set of {len(items)} entries, more than may travel"
    return "" if all(is_key(item, max_bits) for item in items) else "a set of what does not travel"


def in_order(items: Iterable[Any]) -> list[Any]:
    """The entries of a set in an order that does not change from one process to the next."""
    return sorted(items, key=_order)


def _order(item: Any) -> str:
    if isinstance(item, frozenset):
        return repr(sorted(map(_order, item)))
    if isinstance(item, tuple):
        return repr([*map(_order, item)])
    return f"{type(item).__name__} {item!r}"


def is_key(value: object, max_bits: int) -> bool:
    """Whether a value may be in a set or a key: plain, and of a hash that nobody can choose.

    Args:
        value: what arrived.
        max_bits: of an integer, because Python hashes larger ones to the same few numbers.
    """
    if isinstance(value, tuple | frozenset):
        return all(is_key(item, max_bits) for item in value)
    if isinstance(value, numbers.Integral):  # numpy's, too
        return int(value).bit_length() <= max_bits
    if isinstance(value, EnumMember):
        return is_key(value.value, max_bits)
    return isinstance(value, SCALARS) or type(value) in HASHED
