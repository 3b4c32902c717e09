"""How the tensors that a check handed over are written for a student: by name, or as code. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import torch

from grader.core.language import _

MOST_DRAWN = 12
"""Where a check has drawn more than this, a line that draws it all again is too long."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What tensors are called.

    Args:
        constants: the student's own, by name.
        seed: of what the check drew.
        drawn: the code of each draw, in order, and what it drew.
    """

    constants: Mapping[str, torch.Tensor] = field(default_factory=dict)
    seed: int = 0
    drawn: tuple[tuple[str, torch.Tensor], ...] = ()

    def name(self, tensor: torch.Tensor) -> str:
        """What a tensor is called, "" where nothing is known of it."""
        known = (*self.constants.items(), *self._drawn().items())
        names = filter(None, (_part(tensor, name, whole) for name, whole in known))
        return next(names, "") or _constant(tensor)

    def drawing(self, tensors: Iterable[torch.Tensor]) -> list[str]:
        """The line that draws those of the tensors that were drawn; none where none was."""
        shown = " ".join(map(self.name, tensors))
        used = [name if re.search(rf"\b{name}\b", shown) else "" for name in self._drawn()]
        last = max((number for number, name in enumerate(used, 1) if name), default=0)
        drawn = zip((code for code, _value in self.drawn), used[:last], strict=False)
        steps = [f"torch.manual_seed({self.seed})"] if last else []
        for (code, is_used), same in groupby(drawn, lambda step: (step[0], bool(step[1]))):
            names = [name for _code, name in same]
            if is_used and len(names) > 1:
                steps.append(f"{', '.join(names)} = ({code} for _ in range({len(names)}))")
            else:
                steps += [f"{name} = {code}" if name else code for name in names]
        return ["; ".join(steps)] if steps else []

    def giving(self, values: Mapping[str, torch.Tensor]) -> list[str]:
        """The line that gives `model` these parameters, by their full names; none for none."""
        if not values:
            return []
        named = {name: self.name(value) for name, value in values.items()}
        if not all(named.values()):
            return [_("# then the check gives it weights of its own")]
        is_double = any(value.dtype == torch.float64 for value in values.values())
        shown = ", ".join(f'"{name}": {code}' for name, code in named.items())
        model = "model.double()" if is_double else "model"
        return [f"{model}.load_state_dict({{{shown}}}, strict=False)"]

    def _drawn(self) -> dict[str, torch.Tensor]:
        if len(self.drawn) > MOST_DRAWN:
            return {}
        return {f"x{number}": value for number, (_code, value) in enumerate(self.drawn, 1)}


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in lists of lists of values."""
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors_in(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def _part(tensor: torch.Tensor, name: str, whole: torch.Tensor) -> str:
    """A tensor as a named one, as its row or its beginning, or as several of it; else ""."""

    def is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
        return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)

    if tensor.numel() < 2 or whole.numel() < 2:
        return ""
    if is_same(tensor, whole):
        return name
    if tensor.dim() == whole.dim() == 2 and is_same(tensor, whole.T):
        return f"{name}.T"
    if tensor.dtype == torch.float64 and torch.equal(tensor, tensor.float()):
        single = _part(tensor.float(), name, whole)
        return single and f"{single}.double()"
    if tensor.dim() == whole.dim() - 1:
        return next((f"{name}[{i}]" for i, row in enumerate(whole) if is_same(tensor, row)), "")
    if tensor.dim() == whole.dim() and is_same(tensor, whole[: len(tensor)]):
        return f"{name}[:{len(tensor)}]"
    if tensor.dim() == whole.dim() + 1 and all(is_same(entry, whole) for entry in tensor):
        return f"torch.stack([{name}] * {len(tensor)})"
    return ""


def _constant(tensor: torch.Tensor) -> str:
    """A tensor of zeros or ones, or an identity, alone or as a batch; "" for any other."""
    if tensor.numel() < 2:
        return ""
    dtype = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
    for name, number in (("zeros", 0), ("ones", 1)):
        if bool((tensor == number).all()):
            return f"torch.{name}({', '.join(map(str, tensor.shape))}{dtype})"
    size = tensor.shape[-1]
    identity = torch.eye(size, dtype=tensor.dtype)
    if tensor.shape[-2:] != identity.shape or not bool((tensor == identity).all()):
        return ""
    copies = "".join(f"{count}, " for count in tensor.shape[:-2])
    return f"torch.eye({size}{dtype})" + (f".repeat({copies}1, 1)" if copies else "")
