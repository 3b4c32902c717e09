"""The ledger of a course: every tensor that its texts print, and where they print it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError
from grader.course.settings import LedgerSettings
from grader.sandbox.torch_later import torch

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
        decimals: how many digits after the point are printed.
        source: whose values they are, in the course's words; "" where it has none for it.
    """

    id: str
    how: str
    printed_in: tuple[str, ...]
    meaning: str
    tensor: torch.Tensor
    decimals: int = 4
    source: str = ""

    @cached_property
    def atol(self) -> float:
        """How far a right value may lie from the printed one: half a unit of the last digit."""
        return 0.5 * 10.0**-self.decimals + FLOAT32_NOISE


class Ledger:
    """All printed tensors by id, and a note of which were used; none where a course has no ledger.

    Args:
        root: the course's folder.
        settings: which file lists them, and how they are shown.

    Raises:
        CourseError: when the file cannot be read.
    """

    def __init__(self, root: Path, settings: LedgerSettings | None) -> None:
        self.settings = settings
        entries = [] if settings is None else _entries(root / settings.file, settings)
        self.entries = {entry.id: entry for entry in entries}
        twice = [id_ for id_, count in Counter(e.id for e in entries).items() if count > 1]
        if settings and twice:
            ids = ", ".join(twice)
            raise CourseError(f"{settings.file}: the ids {ids} stand there more than once")
        self.used: set[str] = set()

    def __call__(self, id_: str) -> Printed:
        """The printed tensor of that id.

        Raises:
            CourseError: when there is none.
        """
        if self.settings is None:
            raise CourseError(
                f"a check asks for printed({id_!r}), and the course has no printed tensors: there "
                "is no [ledger] in course.toml"
            )
        if id_ not in self.entries:
            raise CourseError(f"{self.settings.file}: the ledger has no entry {id_!r}")
        self.used.add(id_)
        return self.entries[id_]

    def is_of_the_text(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is one of those printed for the text with labels, or a batch of it.

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
        """The entries with a row for each label, and values of their own."""
        rows = len(self.settings.labels) if self.settings else 0
        return tuple(
            entry
            for entry in self.entries.values()
            if entry.tensor.dim()
            and entry.tensor.shape[0] == rows
            and bool((entry.tensor != entry.tensor.round()).any())
        )


def _entries(path: Path, settings: LedgerSettings) -> list[Printed]:
    try:
        return [_printed(entry, settings) for entry in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CourseError(f"{settings.file}: the ledger cannot be read: {error}") from error


def _printed(entry: dict[str, Any], settings: LedgerSettings) -> Printed:
    tensor = torch.tensor(_numbers(entry["values"]), dtype=torch.float32)
    if list(tensor.shape) != entry["shape"]:
        raise ValueError(f"{entry['id']} has the shape {entry['shape']}, its values another")
    return Printed(
        id=str(entry["id"]),
        how=str(entry["how"]),
        printed_in=tuple(str(cell) for cell in entry["printed_in"]),
        meaning=str(entry["meaning"]),
        tensor=tensor,
        decimals=settings.decimals,
        source=settings.source,
    )


def _numbers(values: Any) -> Any:
    return [_numbers(value) for value in values] if isinstance(values, list) else float(values)
