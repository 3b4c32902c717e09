"""Compares what a student's code answered with what is expected, and says how they differ."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.handle import Call
from grader.ledger import Printed
from grader.text import clean
from grader.wire import Reference, Unsupported

REFERENCE_ATOL = 1e-5
"""Right variants of the solutions differ by at most 2e-6 from them."""


NO_RETURN = "Does your function end in a `return`?"


@dataclass(frozen=True, slots=True)
class Difference:
    """How an answer differs from what was expected; what a message is made of.

    Args:
        what: what was compared, in words.
        expected: the expected value.
        actual: the student's.
        summary: the difference in one sentence.
        hints: what may lie behind it, a sentence each.
        source: where the expected value is printed, "" when it is computed.
        axes: names of the tensors' axes.
        atol: the absolute tolerance.
    """

    what: str
    expected: Any
    actual: Any
    summary: str
    hints: tuple[str, ...] = ()
    source: str = ""
    axes: tuple[str, ...] = ()
    atol: float = REFERENCE_ATOL


class Mismatch(AssertionError):
    """A judged value is not what was expected."""

    def __init__(self, difference: Difference, calls: tuple[Call, ...]) -> None:
        self.difference = difference
        self.calls = calls
        super().__init__(difference.summary)


@dataclass(slots=True)
class Judge:
    """The one function checks hand their values to.

    It writes down every judged value: a misconception is recognised by the values it leads to.

    Args:
        calls: the handle's list of requests, for messages.
        judged: the values so far.
        covered: the ledger's entries that were judged against.
    """

    calls: list[Call] = field(default_factory=list)
    judged: list[Any] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)

    def __call__(
        self,
        actual: Any,
        expected: Any,
        *,
        what: str = "the result",
        atol: float | None = None,
        axes: Sequence[str] = (),
        any_dtype: bool = False,
    ) -> None:
        """Compare a value with the expected one.

        Args:
            actual: what came from the student.
            expected: plain data, a tensor, or a printed tensor (which brings its tolerance).
            what: what is compared, in words.
            atol: the absolute tolerance; its origin stands beside the call.
            axes: names of the tensor's axes, for the first difference.
            any_dtype: whether only values count, not the dtype.

        Raises:
            Mismatch: when they differ.
        """
        self.judged.append(actual)
        source = ""
        if isinstance(expected, Printed):
            self.covered.append(expected.id)
            document, _, place = expected.printed_in[0].partition(" ")
            source = f"printed in document {document}, {place}"
            atol = expected.atol if atol is None else atol
            expected = expected.tensor
        atol = REFERENCE_ATOL if atol is None else atol
        found = compare(actual, expected, atol, axes, any_dtype)
        if found is not None:
            summary, hints = found
            if actual is None and what == "the result":
                hints = (*hints, NO_RETURN)
            difference = Difference(
                what, expected, actual, summary, hints, source, tuple(axes), atol
            )
            raise Mismatch(difference, tuple(self.calls))

    def shape(
        self, actual: Any, shape: Sequence[int], *, dtype: torch.dtype | None = torch.float32
    ) -> None:
        """Judge what kind of thing a value is: a tensor of this shape and, unless None, dtype.

        Raises:
            Mismatch: when it is something else.
        """
        expected = torch.zeros(tuple(shape), dtype=dtype or torch.float32)
        self.judged.append(describe(actual))
        found = compare(actual, expected, math.inf, any_dtype=dtype is None)
        if found is not None:
            summary, hints = found
            hints = (*hints, NO_RETURN) if actual is None else hints
            raise Mismatch(Difference("", None, actual, summary, hints), tuple(self.calls))

    def that(self, holds: bool, sentence: str, *, about: Any = None) -> None:
        """Judge a property: `sentence` says what is wrong when it does not hold.

        Raises:
            Mismatch: when it does not hold.
        """
        self.judged.append((bool(holds), about))
        if not holds:
            raise Mismatch(Difference("", None, about, sentence), tuple(self.calls))


Found = tuple[str, tuple[str, ...]] | None


def compare(
    actual: Any, expected: Any, atol: float, axes: Sequence[str] = (), any_dtype: bool = False
) -> Found:
    """The difference in a sentence with hints, or None where there is none."""
    if isinstance(expected, torch.Tensor):
        return _compare_tensor(actual, expected.detach(), atol, axes, any_dtype)
    if isinstance(actual, torch.Tensor) and actual.numel() == 1:
        actual = actual.item()
    if isinstance(expected, float) and _is_number(actual):
        return _compare_numbers(actual, expected, atol)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _compare_mapping(actual, expected, atol, axes, any_dtype)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _compare_sequence(actual, expected, atol, axes, any_dtype)
    if type(actual) is type(expected) and actual == expected:
        return None
    return f"expected {expected!r}, received {describe(actual)}", ()


def _compare_numbers(actual: float, expected: float, atol: float) -> Found:
    try:
        actual = float(actual)
    except OverflowError:
        return f"expected {expected:.6g}, received a number of hundreds of digits", ()
    is_close = math.isclose(actual, expected, rel_tol=0.0, abs_tol=atol)
    if is_close or (math.isnan(actual) and math.isnan(expected)):
        return None
    one, other = f"{expected:.6g}", f"{actual:.6g}"
    if one == other:
        one, other = f"{expected!r}", f"{actual!r}"
    return f"expected {one}, received {other}", ()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare_mapping(
    actual: Mapping[Any, Any],
    expected: Mapping[Any, Any],
    atol: float,
    axes: Sequence[str],
    any_dtype: bool,
) -> Found:
    for key, value in expected.items():
        if key not in actual:
            return f"{clean(repr(key), 60)} is missing", ()
        found = compare(actual[key], value, atol, axes, any_dtype)
        if found is not None:
            return f"at {clean(repr(key), 60)}: {found[0]}", found[1]
    surplus = [key for key in actual if key not in expected]
    return (f"{clean(repr(surplus[0]), 60)} is not expected", ()) if surplus else None


def _compare_sequence(
    actual: Sequence[Any],
    expected: Sequence[Any],
    atol: float,
    axes: Sequence[str],
    any_dtype: bool,
) -> Found:
    if len(actual) != len(expected):
        return f"expected {len(expected)} entries, received {len(actual)}", ()
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        found = compare(one, other, atol, axes, any_dtype)
        if found is not None:
            return f"at position {index}: {found[0]}", found[1]
    return None


def _compare_tensor(
    actual: Any, expected: torch.Tensor, atol: float, axes: Sequence[str], any_dtype: bool
) -> Found:
    if not isinstance(actual, torch.Tensor):
        return f"expected a {shape_words(expected)}, received {describe(actual)}", ()
    actual = actual.detach()
    if actual.shape != expected.shape:
        found = f"expected {_shape(expected)}, received {_shape(actual)}"
        found = found.replace("received the shape ", "received ") if expected.dim() else found
        return found, tuple(_shape_hints(actual, expected, atol))
    if actual.dtype != expected.dtype and not any_dtype:
        return f"expected the dtype {expected.dtype}, received {actual.dtype}", ()
    if actual.is_complex() != expected.is_complex():
        return f"expected real numbers, received {actual.dtype}", ()
    wide = torch.complex128 if expected.is_complex() else torch.float64
    mine, right = actual.to(wide), expected.to(wide)
    if math.isinf(atol):
        return None
    wrong = wrong_values(mine, right, atol)
    if not bool(wrong.any()):
        return None
    return _value_summary(mine, right, wrong, axes), tuple(value_hints(mine, right, atol))


def wrong_values(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> torch.Tensor:
    """Where two tensors of one shape differ: NaN does, infinities of one sign and two NaN do not."""
    wrong = ~((actual - expected).abs() <= atol)
    wrong &= ~(actual == expected)
    return wrong & ~(actual.isnan() & expected.isnan())


def _shape(tensor: torch.Tensor) -> str:
    return f"the shape {tuple(tensor.shape)}" if tensor.dim() else "a single number"


def _shape_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> list[str]:
    hints = []
    if actual.dim() >= 2 and actual.mT.shape == expected.shape:
        hints.append("The last two axes are swapped.")
    elif sorted(actual.shape) == sorted(expected.shape):
        hints.append("The axes are there, in another order.")
    elif actual.squeeze().shape == expected.squeeze().shape:
        hints.append("It has an axis of size 1 too many or too few.")
    elif actual.dim() == expected.dim() - 1 and actual.shape == expected.shape[1:]:
        hints.append("The first axis is gone.")
    return hints


def _value_summary(
    actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, axes: Sequence[str]
) -> str:
    index = tuple(int(position) for position in wrong.nonzero()[0])
    one, other = expected[index].item(), actual[index].item()
    where = _where(index, axes)
    count, total = int(wrong.sum()), wrong.numel()
    expected_, received = numbers(one, other)
    if total == 1:
        return f"expected {expected_}, received {received}"
    return (
        f"{count} of {total} values differ, the first at {where}: "
        f"expected {expected_}, received {received}"
    )


def _where(index: tuple[int, ...], axes: Sequence[str]) -> str:
    if len(axes) == len(index):
        return ", ".join(f"{axis} {position}" for axis, position in zip(axes, index, strict=True))
    return f"[{', '.join(str(position) for position in index)}]"


def number(value: Any, decimals: int = 4) -> str:
    """A number as messages show it: 4 decimals, as the documents print, more where it is small."""
    if isinstance(value, complex):
        return f"{value:.4f}" if abs(value) < 1e7 else f"{value:.3g}"
    if not math.isfinite(value):
        return f"{value}"
    if abs(value) >= 1e7 or 0 < abs(value) < 0.01:
        return f"{value:.3g}"
    return f"{value:.{decimals}f}"


def numbers(one: Any, other: Any) -> tuple[str, str]:
    """Two numbers that differ, with as many decimals as it takes to see it."""
    for decimals in range(4, 9):
        shown = number(one, decimals), number(other, decimals)
        if shown[0] != shown[1]:
            return shown
    return f"{one!r}", f"{other!r}"


def value_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> list[str]:
    """What may lie behind wrong values: ratios, row sums, and the like."""
    hints = []
    if bool(actual.isnan().any()) and not bool(expected.isnan().any()):
        hints.append("It contains NaN (not a number).")
    elif bool(actual.isinf().any()) and not bool(expected.isinf().any()):
        hints.append("It contains an infinity.")
    if expected.is_complex():
        return hints
    loose = 10 * atol
    finite = actual.isfinite() & expected.isfinite()
    hints += _ratio_hint(actual[finite], expected[finite], loose) if finite.all() else []
    is_square = actual.dim() >= 2 and actual.shape == actual.mT.shape
    is_symmetric = is_square and torch.allclose(expected.mT, expected, rtol=0, atol=loose)
    if is_square and not is_symmetric and torch.allclose(actual.mT, expected, rtol=0, atol=loose):
        hints.append("It is the expected result transposed.")
    hints += _row_sum_hint(actual, expected, loose)
    return hints


def _ratio_hint(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> list[str]:
    usable = expected.abs() > max(1e-3, 20 * atol)
    if int(usable.sum()) < 2:
        return []
    ratios = actual[usable] / expected[usable]
    ratio = float(ratios.median())
    is_none = abs(ratio) < 1e-6 or abs(ratio - 1) < 1e-3
    if is_none or not torch.allclose(actual, ratio * expected, rtol=1e-5, atol=atol):
        return []
    if abs(ratio + 1) < 1e-3:
        return ["It has the opposite sign."]
    return [f"Every value is {ratio:.4g} times the expected one{_root_words(ratio)}."]


def _root_words(ratio: float) -> str:
    """Which square root of a small whole number a ratio is, if any."""
    sign = "minus " if ratio < 0 else ""
    for words, square in (("", ratio * ratio), ("1 / ", 1 / (ratio * ratio))):
        if not 1.5 < square < 2_000:
            continue
        nearest = round(square)
        is_whole = abs(math.sqrt(square) - math.sqrt(nearest)) < 5e-5 * math.sqrt(square)
        if is_whole and math.isqrt(nearest) ** 2 != nearest:
            return f", {sign}{words}the square root of {nearest}"
    return ""


def _row_sum_hint(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> list[str]:
    if expected.dim() == 0 or expected.numel() < 2 or not bool(actual.isfinite().all()):
        return []
    ones = torch.ones((), dtype=expected.dtype)
    tolerance = atol * expected.shape[-1] + 1e-4
    if not bool(((expected.sum(-1) - ones).abs() < tolerance).all()):
        return []
    sums = actual.sum(-1)
    if bool(((sums - ones).abs() < tolerance).all()):
        return []
    flat = sums.flatten()
    wrong = flat[(flat - ones).abs() >= tolerance]
    shown = ", ".join(number(value) for value in (flat if len(flat) <= 4 else wrong)[:4].tolist())
    more = ", …" if len(flat) > 4 else ""
    rows = "rows sum" if expected.dim() > 1 else "values sum"
    hints = [f"Its {rows} to {shown}{more} instead of 1."]
    if actual.dim() >= 2 and bool(((actual.sum(-2) - ones).abs() < tolerance).all()):
        hints.append("Its columns sum to 1: the softmax ran along another axis.")
    return hints


def shape_words(tensor: torch.Tensor) -> str:
    """A tensor's shape in words."""
    if tensor.dim() == 0:
        return "tensor of a single number"
    return f"tensor of shape {tuple(tensor.shape)}"


def describe(value: Any) -> str:
    """A value in a few words; never a student's own text at length."""
    if isinstance(value, torch.Tensor):
        return f"a {shape_words(value)}"
    if isinstance(value, Reference):
        name = clean(value.type_name, 80)
        return f"an instance of {name}" if value.number else f"the {clean(value.kind, 20)} itself"
    if isinstance(value, Unsupported):
        return f"a value of type {clean(value.type_name, 80)}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Mapping):
        return f"a dict of {len(value)}"
    if isinstance(value, bool | None):
        return f"{value}"
    if isinstance(value, int):
        return f"{value}" if value.bit_length() < 128 else "a number of dozens of digits"
    if isinstance(value, float):
        return f"{value!r}"
    return f"the text {clean(value[:60])!r}" if isinstance(value, str) else type(value).__name__
