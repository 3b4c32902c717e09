"""The arguments of a call to student code: as it receives them, and whether it changed them."""

from typing import Any

import torch
from torch import nn

from grader.sandbox.plain_data import is_array


def leaf_of(value: object, differentiate: bool) -> object:
    """An argument as gradients are collected for it: a tensor of floating-point numbers is a leaf."""
    if isinstance(value, nn.Parameter):
        return nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    if differentiate and isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().requires_grad_(True)
    return value


def argument_of(leaf: object, value: object) -> Any:
    """What the student's code receives: a copy, so that a change in place is noticed."""
    if isinstance(leaf, list):
        return [argument_of(item, item) for item in leaf]
    if is_array(leaf) or isinstance(leaf, set | bytearray):
        return leaf.copy()  # type: ignore[attr-defined]
    if not isinstance(leaf, torch.Tensor) or isinstance(value, nn.Parameter):
        return leaf
    copy = leaf.clone()
    return copy if leaf.grad_fn is None and leaf.requires_grad else copy.detach()


def is_changed(before: object, after: object) -> bool:
    """Whether a tensor has other values or wants gradients, or a list or a set lost or exchanged any."""
    if is_array(before) and is_array(after):
        return is_changed(torch.from_numpy(before), torch.from_numpy(after))
    if isinstance(before, set | bytearray):
        return type(before) is not type(after) or before != after
    if isinstance(before, list) and isinstance(after, list):
        pairs = zip(before, after, strict=False)
        return len(before) != len(after) or any(is_changed(*pair) for pair in pairs)
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return type(before) is not type(after)
    if after.is_leaf and after.requires_grad is not before.requires_grad:
        return True
    before, after = before.detach(), after.detach()
    if before.shape != after.shape or before.dtype != after.dtype:
        return True
    if torch.equal(before, after):
        return False
    same = before == after
    if before.is_floating_point():
        same |= before.isnan() & after.isnan()
    return not bool(same.all())
