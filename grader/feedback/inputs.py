"""How the tensors that a check handed over are written for a student: by name, or as code. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

MOST_DRAWN = 8
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
        return next(filter(None, (_part(tensor, name, whole) for name, whole in known)), "")

    def drawing(self, tensors: Iterable[torch.Tensor]) -> list[str]:
        """The line that draws those of the tensors that were drawn; none where none was."""
        shown = " ".join(map(self.name, tensors))
        steps, last = [f"torch.manual_seed({self.seed})"], 0
        for name, (code, _value) in zip(self._drawn(), self.drawn, strict=False):
            is_used = re.search(rf"\b{name}\b", shown) is not None
            steps.append(f"{name} = {code}" if is_used else code)
            last = len(steps) if is_used else last
        return ["; ".join(steps[:last])] if last else []

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
    if tensor.dim() == whole.dim() - 1:
        return next((f"{name}[{i}]" for i, row in enumerate(whole) if is_same(tensor, row)), "")
    if tensor.dim() == whole.dim() and is_same(tensor, whole[: len(tensor)]):
        return f"{name}[:{len(tensor)}]"
    if tensor.dim() == whole.dim() + 1 and all(is_same(entry, whole) for entry in tensor):
        return f"torch.stack([{name}] * {len(tensor)})"
    return ""
