"""How the tensors that a check handed over are written for a student: by name, or as code. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from grader.core.language import _
from grader.sandbox.torch_later import is_tensor, torch

MOST_DRAWN = 12
"""Where a check has drawn more than this, a line that draws it all again is too long."""

MOST_WRITTEN = 49
"""A tensor of at most this many values, of which nothing else is known, is written out."""

FEW = 6
"""So few values stand in the call itself."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What tensors are called.

    Args:
        constants: the student's own, by name.
        seed: of what the check drew.
        drawn: the code of each draw, in order, and what it drew.
        may_write: whether tensors of which nothing is known may be written out.
    """

    constants: Mapping[str, torch.Tensor] = field(default_factory=dict)
    seed: int = 0
    drawn: tuple[tuple[str, torch.Tensor | int], ...] = ()
    may_write: bool = False

    def name(self, tensor: torch.Tensor) -> str:
        """What a tensor is called, "" where nothing is known of it."""
        known = (*self.constants.items(), *self._drawn().items())
        parts = (_part(tensor, name, whole) for name, whole in known if is_tensor(whole))
        names = filter(None, parts)
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
            elif len(names) > 1:
                steps.append(f"[{code} for _ in range({len(names)})]")
            else:
                steps += [f"{name} = {code}" if name else code for name in names]
        return ["; ".join(steps)] if steps else []

    def written_out(self, tensors: Iterable[torch.Tensor]) -> tuple[list[str], Inputs]:
        """A line for each tensor that has no name yet, and the inputs in which it has that one."""
        lines: list[str] = []
        named = self
        for tensor in tensors if self.may_write else ():
            is_listed = FEW < tensor.numel() <= MOST_WRITTEN and not bool(tensor.isnan().any())
            if is_listed and not named.name(tensor):
                name = f"t{len(lines) + 1}"
                lines.append(f"{name} = {_literal(tensor)}")
                named = replace(named, constants={**named.constants, name: tensor.detach()})
        return lines, named

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

    def _drawn(self) -> dict[str, torch.Tensor | int]:
        if len(self.drawn) > MOST_DRAWN:
            return {}
        return {f"x{number}": value for number, (_code, value) in enumerate(self.drawn, 1)}


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in lists of lists of values."""
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors_in(item)]
    return [value] if is_tensor(value) else []


def _literal(tensor: torch.Tensor) -> str:
    """A tensor as the code that makes it."""
    values = str(_shortest(tensor.detach(), tensor.dtype)).replace("'", "")
    is_plain = tensor.dtype in (torch.float32, torch.int64, torch.bool)
    dtype = "" if is_plain else f", dtype={tensor.dtype}"
    return f"torch.tensor({values}{dtype})"


def _shortest(tensor: torch.Tensor, dtype: torch.dtype) -> Any:
    """Its values, in lists, each with as few digits as it takes."""
    if tensor.dim():
        return [_shortest(entry, dtype) for entry in tensor]
    value = tensor.item()
    if not isinstance(value, float):
        return value
    if math.isinf(value):
        return f"{value}".replace("inf", "torch.inf")
    rounded = (float(f"{value:.{digits}g}") for digits in range(1, 18))
    return next(one for one in rounded if torch.tensor(one, dtype=dtype).item() == value)


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
