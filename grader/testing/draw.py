"""Draws the inputs of checks, on the trusted side, from one seed per run."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from grader.sandbox.torch_later import torch

T = TypeVar("T")

LARGEST_SPAN = 2**24
"""Of less than this, torch makes a whole number of 32 random bits."""

VISIBLE_SEED = "visible"
"""Visible checks have fixed inputs, the same in every run."""

SHOWN_SEEDS = 100_000
"""How many seeds the inputs of visible checks are drawn from: none has more than five digits."""


class Draw:
    """The inputs of one check, by its id: it draws the same in all runs of one seed."""

    def __init__(self, seed: str, check: str) -> None:
        digest = hashlib.blake2b(f"{seed}\n{check}".encode(), digest_size=7).digest()
        self.number = int.from_bytes(digest, "big")
        if seed == VISIBLE_SEED:  # students read it, and type it
            self.number %= SHOWN_SEEDS
        self.twister = np.random.RandomState(self.number % 2**32)
        # What no message shows by code is drawn beside it: that code stays right.
        self.plain, self.numpy = random.Random(self.number), np.random.default_rng(self.number)
        self.drawn: list[tuple[str, torch.Tensor | int]] = []

    @cached_property
    def generator(self) -> torch.Generator:
        """Draws tensors. It has drawn the whole numbers that were drawn before the first tensor."""
        made = torch.Generator().manual_seed(self.number)
        for _number in self.drawn:
            torch.randint(0, 2, (), generator=made)
        return made

    def normal(
        self, *shape: int, std: float = 0.8, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """Normal numbers around 0.

        Args:
            *shape: of the tensor.
            std: the standard deviation; at 0.8 mistakes lead to values that clearly differ.
            dtype: a floating-point type; float32 unless given.
        """
        numbers = torch.randn(*shape, generator=self.generator, dtype=torch.float32)
        code = f"torch.randn({', '.join(map(str, shape))}) * {std}"
        if dtype not in (None, torch.float32):
            code = f"({code}).to({dtype})"
        return self._drew(code, (numbers * std).to(dtype or torch.float32))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Uniform numbers of float32.

        Args:
            *shape: of the tensor.
            low: their lower bound.
            high: their upper bound.
        """
        numbers = torch.rand(*shape, generator=self.generator, dtype=torch.float32)
        code = f"torch.rand({', '.join(map(str, shape))})"
        if (low, high) != (0.0, 1.0):
            code = f"{low} + ({high} - {low}) * {code}"
        return self._drew(code, low + (high - low) * numbers)

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` up to and including `high`."""
        # As torch's generator draws it, which is not imported for whole numbers alone.
        if "generator" in vars(self) or high - low >= LARGEST_SPAN:
            number = int(torch.randint(low, high + 1, (), generator=self.generator))
        else:
            number = low + int.from_bytes(self.twister.bytes(4), "little") % (high + 1 - low)
        self.drawn.append((f"torch.randint({low}, {high + 1}, ())", number))
        return number

    def array(self, *shape: int, std: float = 0.8) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Normal numbers around 0, as a numpy array of float64.

        Args:
            *shape: of the array.
            std: the standard deviation.
        """
        return self.numpy.standard_normal(shape) * std

    def numbers(self, count: int, low: int, high: int) -> list[int]:
        """Whole numbers from `low` up to and including `high`, in a list."""
        return [self.plain.randint(low, high) for _ in range(count)]

    def choice(self, options: Sequence[T], count: int | None = None) -> Any:
        """One of some values, or a list of `count` different ones in any order.

        Args:
            options: the values.
            count: how many; one alone, not in a list, unless given.
        """
        if count is None:
            return self.plain.choice(options)
        return self.plain.sample(options, count)

    def seed(self) -> int:
        """A seed for a call, from 1 to 1,000,000."""
        return self.whole(1, 1_000_000)

    def permutation(self, size: int) -> torch.Tensor:
        """A permutation of `range(size)`, of shape `(size,)`, that moves something."""
        order = torch.randperm(size, generator=self.generator)
        if torch.equal(order, torch.arange(size)):
            return self._drew(f"torch.randperm({size}).roll(1)", order.roll(1))
        return self._drew(f"torch.randperm({size})", order)

    def _drew(self, code: str, value: torch.Tensor) -> torch.Tensor:
        """A value that was drawn, kept with the code that draws it after `torch.manual_seed`."""
        self.drawn.append((code, value.clone()))
        return value
