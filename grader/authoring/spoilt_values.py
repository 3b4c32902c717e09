"""Right values, spoilt after they were computed: what code returns that knows nothing."""

import operator
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import nn

Spoil = Callable[[torch.Tensor, tuple[Any, ...]], torch.Tensor]
"""Other values in the shape of a right result, from it and from the call's arguments.

It itself where there is nothing to spoil: a single number has no features.
"""


def _zeros(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    del args
    return torch.zeros_like(right)


def _ones(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    del args
    return torch.ones_like(right)


def _uniform(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """The same share for every entry of a row."""
    del args
    return torch.full_like(right, 1 / right.shape[-1] if right.ndim and right.shape[-1] else 1)


def _first_argument(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """The first tensor that was given, as far as it goes."""
    return _filled(right, _first_tensor(args))


def _random(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """Numbers that have nothing to do with the task."""
    del args
    generator = torch.Generator().manual_seed(right.numel())
    return torch.rand(right.shape, generator=generator, dtype=torch.float64).to(right.dtype)


def _turned(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """Each feature in the place of the next one."""
    del args
    return right.roll(1, -1) if right.ndim and right.shape[-1] > 1 else right


def _running_sum(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """For each row the cosine of the sum of all numbers up to it."""
    given = _first_tensor(args)
    if given is None or given.ndim < 2 or given.shape[:-1] != right.shape[:-1]:
        return _filled(right, None if given is None else given.flatten().cumsum(0).cos())
    return given.sum(-1, keepdim=True).cumsum(-2).cos().to(right.dtype).expand_as(right).clone()


def _mean(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """The mean of all rows for every row; of a single one, or of a vector, that of its numbers."""
    del args
    if not right.ndim:
        return right
    axis = -2 if right.ndim > 1 and right.shape[-2] > 1 else -1
    return right.mean(axis, keepdim=True).expand_as(right).clone()


def _but_the_last(right: torch.Tensor, args: tuple[Any, ...]) -> torch.Tensor:
    """NaN for all rows but the last."""
    del args
    spoilt = torch.full_like(right, torch.nan)
    if right.ndim > 1 and right.shape[-2] > 1:
        spoilt[..., -1:, :] = right[..., -1:, :]
    return spoilt


def _first_tensor(args: tuple[Any, ...]) -> torch.Tensor | None:
    given = (a for a in args if isinstance(a, torch.Tensor) and a.numel() and not a.is_complex())
    first = next(given, None)
    return None if first is None else first.detach()


def _filled(right: torch.Tensor, numbers: torch.Tensor | None) -> torch.Tensor:
    """These numbers, again and again, in the shape of a right result; zeros where there are none."""
    if numbers is None:
        return torch.zeros_like(right)
    wanted = torch.arange(right.numel()) % numbers.numel()
    return numbers.flatten()[wanted].to(right.dtype).reshape(right.shape)


KINDS: Mapping[str, Spoil] = {
    "zeros": _zeros,
    "ones": _ones,
    "a uniform share": _uniform,
    "the first argument": _first_argument,
    "random values": _random,
}
"""What is tried in one exercise, whose neighbours are right."""

EVERYWHERE: Mapping[str, Spoil] = {
    "zeros": _zeros,
    "a uniform share": _uniform,
    "turned features": _turned,
    "a running sum": _running_sum,
    "the mean of all rows": _mean,
    "NaN but for the last row": _but_the_last,
}
"""What is tried in all exercises of a file at once; some leave a single number as it is."""


def spoilt(value: Any, args: tuple[Any, ...], spoil: Spoil) -> Any:
    """A right result with other numbers in it; it itself where there is nothing to spoil."""
    if isinstance(value, torch.Tensor):
        return _spoilt_tensor(value, args, spoil)
    if isinstance(value, np.ndarray):
        return np.asarray(spoilt(torch.from_numpy(value), args, spoil))
    if isinstance(value, set | frozenset | bytes | bytearray | str):
        return type(value)()
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple | dict):
        return value
    if isinstance(value, int | float):
        right = torch.tensor(float(value), dtype=torch.float64)
        other = spoil(right, args)
        return value if other is right else type(value)(other.nan_to_num())
    items = list(value.values() if isinstance(value, dict) else value)
    others = [spoilt(item, args, spoil) for item in items]
    if all(map(operator.is_, items, others)):
        return value
    is_dict = isinstance(value, dict)
    return dict(zip(value, others, strict=True)) if is_dict else type(value)(others)


def _spoilt_tensor(value: torch.Tensor, args: tuple[Any, ...], spoil: Spoil) -> torch.Tensor:
    if value.is_complex():
        return value
    right = value if value.is_floating_point() else value.double()
    other = spoil(right, args)
    if other is right:
        return value
    if isinstance(value, nn.Parameter):
        return nn.Parameter(other.detach(), value.requires_grad)
    if value.is_floating_point():
        return other
    other = other.nan_to_num()
    return other > 0.5 if value.dtype is torch.bool else other.to(value.dtype)


def spoil_names(namespace: dict[str, Any], names: list[str], spoil: Spoil) -> set[str]:
    """Spoil what functions and methods of a loaded file return, and its constants.

    Args:
        namespace: of the file.
        names: of the functions, classes and constants.
        spoil: what makes other values of theirs.

    Returns:
        The names of those that have had something to spoil, so far.
    """
    changed: set[str] = set()
    for name in names:
        found = namespace[name]
        if isinstance(found, type):
            methods = {key: value for key, value in vars(found).items() if not key.startswith("_")}
            for key, method in methods.items():
                if isinstance(method, FunctionType):
                    setattr(found, key, _spoiling(method, spoil, partial(changed.add, name)))
        elif isinstance(found, FunctionType):
            namespace[name] = _spoiling(found, spoil, partial(changed.add, name))
        else:
            namespace[name] = spoilt(found, (), spoil)
            changed |= {name} if namespace[name] is not found else set()
    return changed


def _spoiling(function: FunctionType, spoil: Spoil, note: Callable[[], None]) -> Callable[..., Any]:
    """The function, whose result is spoilt; one that works by its effect alone does nothing."""

    @wraps(function)
    def spoiling(*args: Any, **kwargs: Any) -> Any:
        if function.__annotations__.get("return", ...) is None:
            return note()
        right = function(*args, **kwargs)
        other = spoilt(right, (*args, *kwargs.values()), spoil)
        if other is not right:
            note()
        return other

    return spoiling
