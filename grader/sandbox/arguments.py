"""The arguments of a call to student code: as it receives them, and whether it changed them."""

from collections import deque
from typing import Any

from grader.sandbox.plain_data import is_array
from grader.sandbox.tables import is_table
from grader.sandbox.torch_later import is_tensor, tensors
from grader.sandbox.wire import Packer


def leaf_of(value: object, differentiate: bool) -> object:
    """An argument as gradients are collected for it."""
    return tensors.leaf_of(value, differentiate) if is_tensor(value) else value


def argument_of(leaf: object) -> Any:
    """What the student's code receives: a copy, so that a change in place is noticed."""
    if is_tensor(leaf):
        return tensors.copy_of(leaf)
    if isinstance(leaf, list | tuple):
        return type(leaf)(argument_of(item) for item in leaf)
    if isinstance(leaf, dict):
        return type(leaf)({key: argument_of(item) for key, item in leaf.items()})
    if is_array(leaf) or is_table(leaf) or isinstance(leaf, set | bytearray | deque):
        return leaf.copy()  # type: ignore[attr-defined]
    return leaf


def is_changed(before: object, after: object) -> bool:
    """Whether a tensor has other values or wants gradients, or a collection lost or exchanged any."""
    if is_tensor(before) and is_tensor(after):
        return tensors.is_changed(before, after)
    if is_array(before) or is_table(before):
        return type(before) is not type(after) or _packed(before) != _packed(after)
    if isinstance(before, set | bytearray | deque):
        return type(before) is not type(after) or before != after
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() != after.keys() or any(is_changed(before[k], after[k]) for k in before)
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        pairs = zip(before, after, strict=False)
        return len(before) != len(after) or any(is_changed(*pair) for pair in pairs)
    return type(before) is not type(after)


def _packed(value: object) -> tuple[Any, bytes]:
    """All that travels of an array or a table: two are the same if this is."""
    packer = Packer()
    return packer.pack(value), packer.payload()
