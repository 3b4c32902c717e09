"""Torch's dropout as another kind of processor draws it.

Torch draws Bernoulli numbers through MKL on Intel processors and by itself elsewhere, so one seed
gives two masks. What must hold everywhere is tried with both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch.nn import functional


@contextmanager
def other_processor() -> Iterator[None]:
    """Within this context dropout draws another mask from the same seed."""
    original = functional.dropout

    def dropout(
        input: torch.Tensor,  # noqa: A002 (torch names it so)
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        if not training or p == 0.0:
            return original(input, p, training, inplace)
        kept = torch.rand(input.shape, dtype=torch.float64).flip(-1) >= p
        factor = 1.0 / (1.0 - p) if p < 1.0 else 0.0
        return input * kept.to(input.dtype) * factor

    with patch.object(functional, "dropout", dropout):
        yield
