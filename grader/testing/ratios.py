"""Says by what factor values differ from the expected ones. Pure."""

import math
from collections.abc import Iterable

import torch

from grader.core.language import _

MOST_TIMES = 16
"""The greatest whole number that is told as the ratio of two single numbers."""


def ratio_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> Iterable[str]:
    """By what factor all values are too large or too small, where it is one factor.

    Args:
        actual: the student's, finite, `(count,)`.
        expected: of the same shape.
        atol: how far off a value may be.
    """
    usable = expected.abs() > max(1e-3, 20 * atol)
    if expected.numel() == 1 and bool(usable):
        yield from single_ratio_hints(float(actual), float(expected))
    if int(usable.sum()) < 2:
        return
    ratios = actual[usable] / expected[usable]
    ratio = float(ratios.median())
    is_none = abs(ratio) < 1e-6 or abs(ratio - 1) < 1e-3
    if is_none or not torch.allclose(actual, ratio * expected, rtol=1e-5, atol=atol):
        return
    template = _("Every value is {ratio} times the expected one.")
    root = _root_words(ratio)
    if root:
        template = _("Every value is {ratio} times the expected one, {root}.")
    if abs(ratio + 1) < 1e-3:
        template = _("It has the opposite sign.")
    yield template.format(ratio=f"{ratio:.4g}", root=root)


def single_ratio_hints(actual: float, expected: float) -> Iterable[str]:
    """For a single number only a ratio that is hardly chance: a whole one, or one over that."""
    ratio = actual / expected
    if abs(ratio + 1) < 1e-3:
        yield _("It has the opposite sign.")
    larger = ratio if abs(ratio) > 1 else 1 / (ratio or math.inf)
    whole = round(min(larger, MOST_TIMES + 1))
    if 1 < whole <= MOST_TIMES and abs(larger - whole) < 1e-4 * whole:
        yield _("It is {ratio} times the expected value.").format(ratio=f"{ratio:.4g}")


def _root_words(ratio: float) -> str:
    """Which square root of a small whole number a ratio is, if any."""
    of_root, of_share = _("the square root of {number}"), _("1 / the square root of {number}")
    if ratio < 0:
        of_root = _("minus the square root of {number}")
        of_share = _("minus 1 / the square root of {number}")
    for words, square in ((of_root, ratio * ratio), (of_share, 1 / (ratio * ratio))):
        if not 1.5 < square < 2_000:
            continue
        nearest = round(square)
        is_whole = abs(math.sqrt(square) - math.sqrt(nearest)) < 5e-5 * math.sqrt(square)
        if is_whole and math.isqrt(nearest) ** 2 != nearest:
            return words.format(number=nearest)
    return ""
