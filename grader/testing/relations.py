"""Says how values, or shapes, relate to the expected ones: exchanged, rounded, too large. Pure.

Every sentence is true of the values that are compared; none is a guess about code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from grader.core.language import _, listed, ngettext
from grader.core.text import clean
from grader.sandbox.torch_later import torch

MOST_LISTED = 3
"""How many places along an axis are listed."""

LONGEST = 64
"""The longest axis along which an order is looked for."""

SHARES_ATOL = 1e-4
"""How far off 1 the sum of a row of shares may be."""

Shape = Sequence[int]


def shape_relation(actual: Shape, expected: Shape) -> Iterator[str]:
    """What distinguishes a shape from the expected one, in a sentence.

    Args:
        actual: the student's, with other sizes than the expected one.
        expected: as it should be.
    """
    if 0 in (*actual, *expected):
        return
    if len(actual) != len(expected):
        if actual and expected:
            yield from _joined(actual, expected)
        return
    wrong = [axis for axis, size in enumerate(expected) if actual[axis] != size]
    if len(expected) > 1 and len(wrong) == 1:
        (axis,) = wrong
        template = _("Only axis {axis} is wrong: its size is {actual}, and should be {expected}.")
        yield template.format(axis=axis, actual=actual[axis], expected=expected[axis])


def _joined(actual: Shape, expected: Shape) -> Iterator[str]:
    """Where one axis stands for two, or is one too many."""
    longer, shorter = sorted((tuple(actual), tuple(expected)), key=len, reverse=True)
    if len(longer) == len(shorter) + 1:
        for axis in range(len(shorter)):
            pair = longer[axis : axis + 2]
            if (*longer[:axis], pair[0] * pair[1], *longer[axis + 2 :]) == shorter:
                template = _(
                    "Its axes of size {first} and {second} should be one of size {product}."
                )
                if longer == tuple(expected):
                    template = _(
                        "Its axis of size {product} should be two, of size {first} and {second}."
                    )
                yield template.format(first=pair[0], second=pair[1], product=pair[0] * pair[1])
                return
    if len(actual) > len(expected):
        without = [(*actual[:axis], *actual[axis + 1 :]) for axis in range(len(actual))]
        if tuple(expected) in without:
            size = actual[without.index(tuple(expected))]
            yield _("It has an axis of size {size} too many.").format(size=size)
            return
    template = _("The number of its axes is {actual}, and should be {expected}.")
    yield template.format(actual=len(actual), expected=len(expected))


def value_relation(
    actual: torch.Tensor, expected: torch.Tensor, atol: float, axes: Sequence[str]
) -> Iterator[str]:
    """How values relate to the expected ones, in the first sentence that is true of them.

    Args:
        actual: the student's, finite.
        expected: of the same shape, finite, and other values.
        atol: how far off a value may be.
        axes: the names of the axes; rows and columns where there are none.
    """
    if not expected.dim() or expected.numel() < 2:
        return
    is_cut = bool((expected < -atol).any()) and _is_near(actual, expected.clamp(min=0))
    if not bool(actual.any()):
        yield _("All its values are 0.")
    if is_cut:
        yield _("It is 0 wherever the expected value is negative, as after a ReLU.")
    if is_cut or not bool(actual.any()):
        return
    off = actual - expected
    is_even = bool((off - off.flatten()[0]).abs().max() <= atol)
    if is_even and abs(float(off.flatten()[0])) > max(1e-3, 20 * atol):
        template = _("Every value is {number} more than the expected one.")
        if off.flatten()[0] < 0:
            template = _("Every value is {number} less than the expected one.")
        yield template.format(number=f"{abs(float(off.flatten()[0])):.4g}")
        return
    names = list(axes) if len(axes) == expected.dim() else _own_names(expected.dim())
    for relation in (_exchanged, _the_same, _few):
        for axis, name in enumerate(names):
            size = expected.shape[axis]
            if size > 1 and name:
                one, other = (t.movedim(axis, 0).reshape(size, -1) for t in (actual, expected))
                if sentence := relation(one, other, atol, name):
                    yield sentence
                    return


def _own_names(dim: int) -> list[str]:
    return [_("row"), _("column")] if dim == 2 else [""] * dim


def _exchanged(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether the expected values stand at other places of an axis.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    size = len(expected)
    if size > LONGEST:
        return ""
    same = (actual[:, None] - expected[None]).abs().amax(-1) <= atol
    if bool((same.sum(1) > 1).any() | (same.sum(0) > 1).any()):
        return ""  # places that are alike tell nothing
    if size > 2 and bool(same[1:, :-1].diagonal().all()):
        template = _("Each {name} but the first has the values expected of the one before it.")
        return template.format(name=name)
    if size > 2 and bool(same[:-1, 1:].diagonal().all()):
        template = _("Each {name} but the last has the values expected of the one after it.")
        return template.format(name=name)
    if not bool(same.any(1).all()):
        return ""
    order = same.int().argmax(1).tolist()
    if order == list(range(size))[::-1]:
        return _("The expected values are there, in reverse order by {name}.").format(name=name)
    moved = [place for place in range(size) if order[place] != place]
    first, holds = moved[0], order[moved[0]]
    template = _(
        "The expected values are there, in another order by {name}: {name} {first} has those "
        "of {name} {holds}."
    )
    return template.format(name=name, first=first, holds=holds)


def _the_same(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether all places of an axis have the same values, and should not.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    differs = [bool((t - t[:1]).abs().max() > atol) for t in (actual, expected)]
    if differs != [False, True]:
        return ""
    return _("Its values are the same at every {name}, and should not be.").format(name=name)


def _few(actual: torch.Tensor, expected: torch.Tensor, atol: float, name: str) -> str:
    """Whether values differ, or are right, at a few places of an axis only.

    Args:
        actual: the values at each place, `(size, count)`.
        expected: likewise.
        atol: how far off a value may be.
        name: what a place of the axis is called.
    """
    wrong = (actual - expected).abs() > atol
    differs = wrong.any(-1)
    sides = [(differs, _("It differs only at {places}."))]
    if torch.equal(differs, wrong.all(-1)):
        sides.append((~differs, _("It is right only at {places}.")))
    for is_there, template in sides:
        places = is_there.nonzero().flatten().tolist()
        if 0 < len(places) <= min(MOST_LISTED, len(differs) // 2):
            return template.format(places=listed(f"{name} {place}" for place in places))
    return ""


MOST_DIGITS = 4
"""torch prints four digits after the point."""

CLOSE = 1e-3
"""How far off values are where a step on the way is rounded, as a share of the largest."""

LOW = 0.1
"""How far below 1 a sum of shares may be where something small is added to what divides them."""

NEAR = 2e-6
"""How far a right value may be off, in units of values up to 1."""


def rounded_hints(actual: ArrayLike, expected: ArrayLike) -> Iterable[str]:
    """Whether values are the expected ones but for some digits, or for what such a step makes.

    Args:
        actual: the student's, finite.
        expected: of the same shape.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    for digits in range(MOST_DIGITS, 0, -1) if actual.any() else ():
        if np.allclose(actual, expected.round(digits), rtol=NEAR, atol=NEAR):
            template = ngettext(
                "It is the expected result rounded to {count} digit after the point.",
                "It is the expected result rounded to {count} digits after the point.",
                digits,
            )
            yield template.format(count=digits)
            return
    if _has_low_sums(actual, expected):
        yield _(
            "Its values sum to a little less than 1: is something added to the sum that they are divided "
            "by?"
        )
    elif bool((abs(actual - expected) < CLOSE * abs(expected).max()).all()):
        yield _(
            "All is close to what is expected: a number or a step on the way that is rounded, or a "
            "formula that gives nearly the same?"
        )


def _has_low_sums(actual: ArrayLike, expected: ArrayLike) -> bool:
    """Whether shares that should sum to 1 are each a little too small, by one factor."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if expected.ndim == 0 or expected.shape[-1] < 2:
        return False
    sums = actual.sum(-1, keepdims=True)
    is_low = bool(((sums > 1 - LOW) & (sums < 1 - 10 * NEAR)).all())
    is_share = np.allclose(expected.sum(-1), 1, rtol=0, atol=NEAR) and bool((expected >= 0).all())
    return is_low and is_share and np.allclose(actual, expected * sums, rtol=NEAR, atol=NEAR)


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
        sentence = _("Its rows sum to 1, and they should not.")
        if bool(((expected.sum(-1) - 1).abs() <= SHARES_ATOL).any()):
            sentence = _("All its rows sum to 1, and some of them should not.")
        yield sentence


FEWEST_SCORES = 3
"""So many weights, beside the last of each row, are told as those of other scores."""


def score_hints(actual: torch.Tensor, expected: torch.Tensor) -> Iterable[str]:
    """By what factor scores are too large or too small, where a softmax of them gives the values.

    Args:
        actual: the student's, finite.
        expected: of the same shape.
    """
    kept = expected > 0
    is_one = not expected.dim() or int(kept.sum(-1).sub(1).clamp(min=0).sum()) < FEWEST_SCORES
    if is_one or not torch.equal(actual > 0, kept):
        return
    if not (_sums_to_one(actual) and _sums_to_one(expected)):
        return
    counts = kept.sum(-1, keepdim=True).clamp(min=1)
    mine, right = (t.log().masked_fill(~kept, 0.0) for t in (actual, expected))
    mine, right = (t - (t.sum(-1, keepdim=True) / counts * kept) for t in (mine, right))
    ratio = float((mine * right).sum() / (right * right).sum().clamp(min=1e-12))
    size = ONE_FACTOR * float((mine - right).abs().max())
    if abs(ratio) > 1e-3 and bool((mine - ratio * right).abs().max() < min(size, 1e-3)):
        template = _("It is what a softmax gives whose input is {ratio} times the right one.")
        yield template.format(ratio=f"{ratio:.3g}")


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
    shown = actual.sum(-1).flatten()[is_wrong]
    more = ", …" if len(shown) > 4 else ""
    template = _("Its values sum to {sums} instead of 1.")
    if expected.dim() > 1:
        template = _("Rows of it sum to {sums} instead of 1.")
    text = ", ".join(format_number(value) for value in shown[:4].tolist())
    yield template.format(sums=f"{text}{more}")
    if actual.dim() >= 2 and not bool(wrong_sums(actual, -2).any()):
        yield _("Its columns sum to 1: was it computed along another axis?")


def format_number(value: Any, decimals: int = 4) -> str:
    """A number as messages show it: 4 decimals, as torch prints, more where it is small; a whole one without."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, complex):
        return f"{value:.4f}" if abs(value) < 1e7 else f"{value:.3g}"
    if not math.isfinite(value):
        return f"{value}"
    if abs(value) >= 1e7 or 0 < abs(value) < 0.01:
        return f"{value:.3g}"
    return f"{value}" if isinstance(value, int) else f"{value:.{decimals}f}"


def _is_near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=NEAR, atol=NEAR)


def _has_equal_rows(tensor: torch.Tensor) -> bool:
    return _is_near(tensor, tensor[..., :1, :].expand_as(tensor))


def _sums_to_one(tensor: torch.Tensor) -> bool:
    """Whether each row holds shares: no number below 0, and 1 in all."""
    sums = tensor.sum(-1)
    is_mixed = bool(((tensor > 0) & (tensor < 1)).any())  # else it may be a matrix that was given
    is_share = is_mixed and bool((tensor >= 0).all())
    return is_share and torch.allclose(sums, torch.ones_like(sums), atol=SHARES_ATOL)


MOST_TIMES = 16
"""The greatest whole number that is told as the ratio of two single numbers."""

MOST_EXACT = 1000
"""The same where the two are floats and the ratio is whole in six digits."""

ONE_FACTOR = 0.02
"""How far values may be from one ratio, as a share of how far they are from the expected ones."""


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
    if (actual - ratio * expected).abs().max() > ONE_FACTOR * (actual - expected).abs().max():
        return
    template = _("Every value is {ratio} times the expected one.")
    root = _root_words(ratio)
    if root:
        template = _("Every value is {ratio} times the expected one, {root}.")
    if abs(ratio + 1) < 1e-3:
        template = _("It has the opposite sign.")
    yield template.format(ratio=f"{ratio:.4g}", root=root)


def single_ratio_hints(actual: float, expected: float) -> Iterable[str]:
    """For a single number only what is hardly chance: a whole ratio, or one over that; of whole ones more."""
    ratio = actual / expected
    if abs(ratio + 1) < 1e-3:
        yield _("It has the opposite sign.")
    if isinstance(expected, int):
        yield from _whole_hints(int(actual), expected)
        return
    larger = ratio if abs(ratio) > 1 else 1 / (ratio or math.inf)
    whole = round(min(larger, MOST_EXACT + 1))
    close = 1e-4 if whole <= MOST_TIMES else 1e-6
    if 1 < whole <= MOST_EXACT and abs(larger - whole) < close * whole:
        yield _("It is {ratio} times the expected value.").format(ratio=f"{ratio:.4g}")


def _whole_hints(actual: int, expected: int) -> Iterable[str]:
    """Where one of two whole numbers is one more than the other, or a small fraction of it."""
    ratio = Fraction(actual, expected)
    if abs(actual - expected) == 1:
        more, less = _("It is 1 more than expected."), _("It is 1 less than expected.")
        yield more if actual > expected else less
    elif 1 < max(ratio.numerator, ratio.denominator) <= MOST_TIMES and ratio > 0:
        yield _("It is {ratio} times the expected value.").format(ratio=ratio)


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


SETS = (set, frozenset)
BYTES = (bytes, bytearray)

MOST_NAMED = 6
"""So many entries of a set, or names, are shown."""

Found = tuple[str, tuple[str, ...]] | None
"""A difference in a sentence, and hints; None where there is no difference."""


def compare_sets(actual: Any, expected: Any) -> Found:
    """Which entries of two sets are in one of them alone; the kind of set does not count."""
    missing, more = expected - actual, actual - expected
    if not missing and not more:
        return None
    said = [_("missing: {entries}").format(entries=named(missing))] if missing else []
    said += [_("not expected: {entries}").format(entries=named(more))] if more else []
    return "; ".join(said), ()


def named(entries: Iterable[Any]) -> str:
    """Entries in words, the first of them by name."""
    texts = sorted(clean(repr(entry), 60) for entry in entries)
    left = len(texts) - MOST_NAMED
    shown = listed(texts[:MOST_NAMED])
    if left <= 0:
        return shown
    return _("{entries} and {count} more").format(entries=shown, count=left)


def compare_bytes(actual: bytes | bytearray, expected: bytes | bytearray) -> Found:
    """The first byte that two texts of bytes differ in, or that one of them ends."""
    if actual == expected:
        return None
    shorter = min(len(actual), len(expected))
    mine, right = (np.frombuffer(one, np.uint8, shorter) for one in (actual, expected))
    places = np.flatnonzero(mine != right)
    if not places.size:
        words = _("expected {expected} bytes, received {actual}; as far as both go, they are equal")
        return words.format(expected=len(expected), actual=len(actual)), ()
    words = _("the first other byte is at {place}: expected {expected}, received {actual}")
    place = int(places[0])
    one, other = (repr(bytes(part[place : place + 1])) for part in (expected, actual))
    return words.format(place=place, expected=one, actual=other), ()


def at(position: str, found: tuple[str, tuple[str, ...]]) -> Found:
    """A difference, with the place where it is."""
    difference, hints = found
    return _("at {place}: {difference}").format(place=position, difference=difference), hints
