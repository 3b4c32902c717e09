"""Sets, bytes and numpy's arrays as they travel: how they are packed, and checked when they arrive.

It runs on both sides, beside student code as well.
"""

import numbers
import sys
from collections.abc import Iterable
from typing import Any

MOST_ALIKE = 4_000
"""Tuples in a set, or as keys: their hashes can be chosen so that all of them are the same."""

SETS = {"set": set, "frozenset": frozenset}
BYTES = {"bytes": bytes, "bytearray": bytearray}
SCALARS = (str, int, float, bool, bytes, type(None))

ARRAYS = (
    *("float64", "float32", "float16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
"""The dtypes of arrays that travel, by name."""


def is_array(value: object) -> bool:
    """Whether a value is one of numpy's arrays; nobody has one before numpy is imported."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def array_bytes(array: Any) -> tuple[list[Any], bytes] | None:
    """The description of an array and its memory, None where its dtype does not travel."""
    name = array.dtype.name
    if name not in ARRAYS:
        return None
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return [name, list(array.shape)], native.tobytes()


def why_no_set(items: Any, most: int, max_bits: int) -> str:
    """Why a set does not travel; "" where it does.

    Args:
        items: the set.
        most: how many entries may travel.
        max_bits: of an integer in it.
    """
    alike = sum(isinstance(item, tuple | frozenset) for item in items)
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
    return isinstance(value, SCALARS)
