"""Every tensor that the documents print, and where they print it."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from grader.core.errors import CourseError

TOKENS = ("Your", "journey", "starts", "with", "one", "step")
"""The documents' text: most of their tensors have a row or a column for each of these."""

HALF_A_DIGIT = 5e-5
"""Figures are printed to 4 decimals: half a unit of the last digit."""

FLOAT32_NOISE = 1e-6
"""What float32 adds to a figure that lies right between two printed ones."""


@dataclass(frozen=True)
class Printed:
    """One printed tensor.

    Args:
        id: its number, like "T07".
        how: how a check can cover it: by value, as an input, by shape, as a misconception.
        printed_in: where, like "000 cell 28".
        meaning: what it is.
        tensor: its values as printed, float32.
    """

    id: str
    how: str
    printed_in: tuple[str, ...]
    meaning: str
    tensor: torch.Tensor

    @cached_property
    def atol(self) -> float:
        """How far a right value may lie from the printed one."""
        return HALF_A_DIGIT + FLOAT32_NOISE


class Ledger:
    """All printed tensors by id, and a note of which were used.

    Args:
        path: the file that lists them.

    Raises:
        CourseError: when the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        try:
            entries = [_printed(entry) for entry in json.loads(path.read_text("utf-8"))]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise CourseError(
                f"{path.name}: the documents' ledger cannot be read: {error}"
            ) from error
        self.entries = {entry.id: entry for entry in entries}
        if len(self.entries) != len(entries):
            ids = [entry.id for entry in entries]
            twice = ", ".join(id_ for id_ in self.entries if ids.count(id_) > 1)
            raise CourseError(f"{path.name}: the ids {twice} stand there more than once")
        self.used: set[str] = set()

    def __call__(self, id_: str) -> Printed:
        """The printed tensor of that id.

        Raises:
            CourseError: when there is none.
        """
        if id_ not in self.entries:
            raise CourseError(f"the documents' ledger has no entry {id_!r}")
        self.used.add(id_)
        return self.entries[id_]

    def is_of_the_text(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is one of those printed for the six tokens, or a batch of it.

        Masks, sums and other whole numbers do not count: they are the same for every text.
        """
        return any(
            tensor.shape[-entry.tensor.dim() :] == entry.tensor.shape
            and torch.allclose(
                tensor.double(), entry.tensor.double().expand_as(tensor), rtol=0, atol=entry.atol
            )
            for entry in self.of_the_text
        )

    @cached_property
    def of_the_text(self) -> tuple[Printed, ...]:
        """The entries with a row for each of the six tokens, and values of their own."""
        return tuple(
            entry
            for entry in self.entries.values()
            if entry.tensor.dim()
            and entry.tensor.shape[0] == len(TOKENS)
            and bool((entry.tensor != entry.tensor.round()).any())
        )


def _printed(entry: dict[str, Any]) -> Printed:
    tensor = torch.tensor(_numbers(entry["values"]), dtype=torch.float32)
    if list(tensor.shape) != entry["shape"]:
        raise ValueError(f"{entry['id']} has the shape {entry['shape']}, its values another")
    return Printed(
        id=str(entry["id"]),
        how=str(entry["how"]),
        printed_in=tuple(str(cell) for cell in entry["printed_in"]),
        meaning=str(entry["meaning"]),
        tensor=tensor,
    )


def _numbers(values: Any) -> Any:
    return [_numbers(value) for value in values] if isinstance(values, list) else float(values)
