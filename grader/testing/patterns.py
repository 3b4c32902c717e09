"""Says what wrong values look like: rounded, one row again and again, rows of a softmax. Pure."""

import math
from collections.abc import Iterable
from typing import Any

import torch

from grader.core.language import _, ngettext

MOST_DIGITS = 4
"""torch prints four digits after the point."""

CLOSE = 1e-3
"""How far off values are where a step on the way is rounded, as a share of the largest."""

NEAR = 2e-6
"""How far a right value may be off, in units of values up to 1."""


def rounded_hints(actual: torch.Tensor, expected: torch.Tensor) -> Iterable[str]:
    """Whether values are the expected ones but for some digits, or for what such a step makes.

    Args:
        actual: the student's, finite.
        expected: of the same shape.
    """
    for digits in range(MOST_DIGITS, 0, -1):
        if _is_near(actual, expected.round(decimals=digits)):
            template = ngettext(
                "It is the expected result rounded to {count} digit after the point.",
                "It is the expected result rounded to {count} digits after the point.",
                digits,
            )
            yield template.format(count=digits)
            return
    if bool(((actual - expected).abs() < CLOSE * expected.abs().max()).all()):
        yield _(
            "All is close to what is expected: a number or a step on the way that is rounded, or a "
            "formula that gives nearly the same?"
        )


def row_hints(actual: torch.Tensor, expected: torch.Tensor) -> Iterable[str]:
    """Whether all rows are one, or sum to 1, where they should not.

    Args:
        actual: the student's, finite.
        expected: of the same shape.
    """
    if actual.dim() < 2 or min(actual.shape[-2:]) < 2:
        return
    last = expected[..., -1:, :]
    if _has_equal_rows(actual) and not _has_equal_rows(expected) and bool(actual.any()):
        sentence = _("All its rows are the same, and they should not be.")
        is_all_the_same = bool((actual == actual.flatten()[0]).all())
        if not is_all_the_same and _is_near(actual, last.expand_as(actual)):
            sentence = _(
                "Every row is what the last one should be: is there one row only, changed again "
                "and again?"
            )
        yield sentence
    if _sums_to_one(actual) and not _sums_to_one(expected):
        yield _("Its rows sum to 1, and they should not: which step makes them?")


def row_sum_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> Iterable[str]:
    """What rows of weights sum to instead of 1.

    Args:
        actual: the student's.
        expected: of the same shape.
        atol: how far off a value may be.
    """
    if expected.dim() == 0 or expected.numel() < 2 or not bool(actual.isfinite().all()):
        return
    tolerance = atol * expected.shape[-1] + 1e-4

    def wrong_sums(tensor: torch.Tensor, axis: int) -> torch.Tensor:
        return ~((tensor.sum(axis) - 1).abs() < tolerance)

    is_wrong = wrong_sums(actual, -1).flatten()
    if bool(wrong_sums(expected, -1).any()) or not bool(is_wrong.any()):
        return
    sums = actual.sum(-1).flatten()
    shown = sums if bool(is_wrong[:4].any()) else sums[is_wrong]
    more = ", …" if len(sums) > 4 else ""
    template = _("Its values sum to {sums} instead of 1.")
    if expected.dim() > 1:
        template = _("Its rows sum to {sums} instead of 1.")
    text = ", ".join(format_number(value) for value in shown[:4].tolist())
    yield template.format(sums=f"{text}{more}")
    if actual.dim() >= 2 and not bool(wrong_sums(actual, -2).any()):
        yield _("Its columns sum to 1: was it computed along another axis?")


def format_number(value: Any, decimals: int = 4) -> str:
    """A number as messages show it: 4 decimals, as torch prints, more where it is small."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, complex):
        return f"{value:.4f}" if abs(value) < 1e7 else f"{value:.3g}"
    if not math.isfinite(value):
        return f"{value}"
    if abs(value) >= 1e7 or 0 < abs(value) < 0.01:
        return f"{value:.3g}"
    return f"{value:.{decimals}f}"


def _is_near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=NEAR, atol=NEAR)


def _has_equal_rows(tensor: torch.Tensor) -> bool:
    return _is_near(tensor, tensor[..., :1, :].expand_as(tensor))


def _sums_to_one(tensor: torch.Tensor) -> bool:
    """Whether each row holds shares: no number below 0, and 1 in all."""
    sums = tensor.sum(-1)
    is_mixed = bool(((tensor > 0) & (tensor < 1)).any())  # else it may be a matrix that was given
    is_share = is_mixed and bool((tensor >= 0).all())
    return is_share and torch.allclose(sums, torch.ones_like(sums), atol=1e-4)
