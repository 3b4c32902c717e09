"""Tensors: how they travel, what a call receives and does with them.

It runs on both sides, beside student code as well. It imports torch: others reach it through
`torch_later`.
"""

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from grader.sandbox.plain_data import DTYPES

TENSOR, MODULE = torch.Tensor, nn.Module  # as they are now, whatever student code sets
DTYPE_NAMES: dict[torch.dtype, str] = {getattr(torch, name): name for name in DTYPES}


def use_one_thread() -> None:
    """Let torch compute on one thread: a fork has none of the others."""
    torch.set_num_threads(1)


def set_seed(seed: int) -> None:
    """Seed torch."""
    # `torch.manual_seed` also formats a stack for CUDA, 1 ms a call.
    torch.default_generator.manual_seed(seed)


def begin_anew() -> None:
    """Compute gradients, as in a process that has just imported torch."""
    torch.set_grad_enabled(True)


def chance() -> bytes:
    """Where torch's random numbers stand."""
    return bytes(torch.default_generator.get_state().numpy())


# How they travel.


def description(tensor: torch.Tensor) -> list[Any] | str:
    """What travels of a tensor besides its values: dtype, shape, whether it is a parameter, wants gradients.

    In words why it does not travel, where it does not.
    """
    data = tensor.detach()  # a subclass may tell other things of itself
    if data.layout is not torch.strided or data.is_quantized or data.device.type != "cpu":
        return f"a {data.layout} tensor on {data.device.type}"
    if data.dtype not in DTYPE_NAMES:
        return f"a tensor of {data.dtype}"
    is_parameter = isinstance(tensor, nn.Parameter)
    return [DTYPE_NAMES[data.dtype], list(data.shape), is_parameter, bool(tensor.requires_grad)]


def memory(tensor: torch.Tensor) -> bytes:
    """The values of a tensor, in order."""
    data = tensor.detach().resolve_conj().resolve_neg().contiguous()
    size = data.numel() * data.element_size()
    return ctypes.string_at(data.data_ptr(), size) if size else b""


def from_memory(dtype: str, shape: list[int], chunk: bytearray) -> torch.Tensor:
    """A tensor of these values."""
    return torch.frombuffer(chunk, dtype=getattr(torch, dtype)).reshape(shape)


def without_values(dtype: str, shape: list[int], device: str) -> torch.Tensor:
    """A tensor that takes no memory: empty, or on the device "meta".

    Raises:
        RuntimeError: when its sizes are impossible.
    """
    return torch.empty(shape, dtype=getattr(torch, dtype), device=device)


def flagged(tensor: torch.Tensor, parameter: bool, requires_grad: bool) -> torch.Tensor:
    """The tensor, as a parameter if it is to be one, that wants gradients if it is to and can."""
    requires_grad &= tensor.is_floating_point() or tensor.is_complex()
    if parameter:
        return nn.Parameter(tensor, requires_grad=requires_grad)
    return tensor.requires_grad_(requires_grad)


# The arguments of a call.


def leaf_of(value: torch.Tensor, differentiate: bool) -> torch.Tensor:
    """An argument as gradients are collected for it: a tensor of floating-point numbers is a leaf."""
    if isinstance(value, nn.Parameter):
        return nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    if differentiate and value.is_floating_point():
        return value.detach().requires_grad_(True)
    return value


def copy_of(leaf: torch.Tensor) -> torch.Tensor:
    """What the student's code receives of a leaf; a parameter is a copy already."""
    if isinstance(leaf, nn.Parameter):
        return leaf
    copy = leaf.clone()
    return copy if leaf.grad_fn is None and leaf.requires_grad else copy.detach()


def is_changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether a tensor has other values, or wants gradients."""
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


class Operations(TorchFunctionMode):
    """Counts by name the functions and methods of torch that are called while it is active.

    What these call in their turn does not count: `nn.Softmax` is one `softmax`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the function, and count it."""
        self.counts[getattr(func, "__name__", "")] += 1
        return func(*args, **(kwargs or {}))
