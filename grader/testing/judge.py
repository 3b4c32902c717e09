"""Compares what a student's code answered with what is expected, and says how they differ."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.core.language import N_, _, listed
from grader.core.text import clean
from grader.course.printed_tensors import Printed
from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.student import Call

THE_RESULT = N_("the result")

REFERENCE_ATOL = 1e-5
"""Right variants of the solutions differ by at most 2e-6 from them."""

NO_RETURN = N_("Does your function end in a `return`?")


Say = Callable[[str], str]
"""Puts words of ours into the language of the run."""


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
        axes: names of the tensors' axes, in the language of the run.
        atol: the absolute tolerance.
        keys: the axes' names as checks give them.
    """

    what: str
    expected: Any
    actual: Any
    summary: str
    hints: tuple[str, ...] = ()
    source: str = ""
    axes: tuple[str, ...] = ()
    atol: float = REFERENCE_ATOL
    keys: tuple[str, ...] = ()


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
        say: the course's own words in the language of the run. What is judged is never put into
            another language: mistakes are recognised by it.
    """

    calls: list[Call] = field(default_factory=list)
    judged: list[Any] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)
    say: Say = str

    def words(self, template: str, **names: Any) -> str:
        """Words of a check with names and numbers in them, in the language of the run.

        Args:
            template: with a `{placeholder}` for each name.
            **names: what stands there; words of the course ("query") are said, too.
        """
        said = {n: self.say(v) if isinstance(v, str) else v for n, v in names.items()}
        return self.say(template).format(**said)

    def __call__(
        self,
        actual: Any,
        expected: Any,
        *,
        what: str = THE_RESULT,
        atol: float | None = None,
        axes: Sequence[str] = (),
        any_dtype: bool = False,
    ) -> None:
        """Compare a value with the expected one.

        Args:
            actual: what came from the student.
            expected: plain data, a tensor, or a printed tensor (which brings its tolerance).
            what: what is compared, in plain words or in `words(…)`.
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
            document, _space, place = expected.printed_in[0].partition(" ")
            source = _printed_in(document, place)
            atol = expected.atol if atol is None else atol
            expected = expected.tensor
        atol = REFERENCE_ATOL if atol is None else atol
        named = tuple(self.say(axis) for axis in axes)
        found = compare(actual, expected, atol, named, any_dtype)
        if found is not None:
            summary, hints = found
            if actual is None and what == THE_RESULT:
                hints = (*hints, _(NO_RETURN))
            words = _(THE_RESULT) if what == THE_RESULT else self.say(what)
            difference = Difference(
                words, expected, actual, summary, hints, source, named, atol, tuple(axes)
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
        self.judged.append(describe(actual, say=str))
        found = compare(actual, expected, math.inf, any_dtype=dtype is None)
        if found is not None:
            summary, hints = found
            hints = (*hints, _(NO_RETURN)) if actual is None else hints
            raise Mismatch(Difference("", None, actual, summary, hints), tuple(self.calls))

    def that(self, holds: bool, sentence: str, *, about: Any = None) -> None:
        """Judge a property: `sentence` says what is wrong when it does not hold.

        Raises:
            Mismatch: when it does not hold.
        """
        self.judged.append((bool(holds), about))
        if not holds:
            raise Mismatch(Difference("", None, about, self.say(sentence)), tuple(self.calls))


def _printed_in(document: str, place: str) -> str:
    """Where a value is printed, in words: a place is "cell 28" or "line 225"."""
    kind, _space, number = place.partition(" ")
    template = {
        "cell": _("printed in document {document}, cell {number}"),
        "line": _("printed in document {document}, line {number}"),
    }.get(kind, "")
    if template:
        return template.format(document=document, number=number)
    return _("printed in document {document}, {place}").format(document=document, place=place)


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
    return _contrast(f"{expected!r}", describe(actual)), ()


def _contrast(expected: str, actual: str) -> str:
    return _("expected {expected}, received {actual}").format(expected=expected, actual=actual)


def _compare_numbers(actual: float, expected: float, atol: float) -> Found:
    try:
        actual = float(actual)
    except OverflowError:
        return _contrast(f"{expected:.6g}", _("a number of hundreds of digits")), ()
    is_close = math.isclose(actual, expected, rel_tol=0.0, abs_tol=atol)
    if is_close or (math.isnan(actual) and math.isnan(expected)):
        return None
    one, other = f"{expected:.6g}", f"{actual:.6g}"
    if one == other:
        one, other = f"{expected!r}", f"{actual!r}"
    return _contrast(one, other), ()


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
            return _("{name} is missing").format(name=clean(repr(key), 60)), ()
        found = compare(actual[key], value, atol, axes, any_dtype)
        if found is not None:
            return _at(clean(repr(key), 60), found[0]), found[1]
    surplus = [key for key in actual if key not in expected]
    if not surplus:
        return None
    return _("{name} is not expected").format(name=clean(repr(surplus[0]), 60)), ()


def _at(place: str, difference: str) -> str:
    return _("at {place}: {difference}").format(place=place, difference=difference)


def _compare_sequence(
    actual: Sequence[Any],
    expected: Sequence[Any],
    atol: float,
    axes: Sequence[str],
    any_dtype: bool,
) -> Found:
    if len(actual) != len(expected):
        template = _("expected {expected} entries, received {actual}")
        return template.format(expected=len(expected), actual=len(actual)), ()
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        found = compare(one, other, atol, axes, any_dtype)
        if found is not None:
            return _at(_("position {index}").format(index=index), found[0]), found[1]
    return None


def _compare_tensor(
    actual: Any, expected: torch.Tensor, atol: float, axes: Sequence[str], any_dtype: bool
) -> Found:
    if not isinstance(actual, torch.Tensor):
        return _contrast(describe(expected), describe(actual)), ()
    actual = actual.detach()
    if actual.shape != expected.shape:
        return _other_shape(actual, expected), tuple(_shape_hints(actual, expected, atol))
    if actual.dtype != expected.dtype and not any_dtype:
        template = _("expected the dtype {expected}, received {actual}")
        return template.format(expected=expected.dtype, actual=actual.dtype), ()
    if actual.is_complex() != expected.is_complex():
        return _contrast(_("real numbers"), str(actual.dtype)), ()
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


def _other_shape(actual: torch.Tensor, expected: torch.Tensor) -> str:
    single = _("a single number")
    if not expected.dim():
        return _contrast(single, _("the shape {shape}").format(shape=tuple(actual.shape)))
    template = _("expected the shape {expected}, received {actual}")
    received = tuple(actual.shape) if actual.dim() else single
    return template.format(expected=tuple(expected.shape), actual=received)


def _shape_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> list[str]:
    hints = []
    if actual.dim() >= 2 and actual.mT.shape == expected.shape:
        hints.append(_("The last two axes are swapped."))
    elif sorted(actual.shape) == sorted(expected.shape):
        hints.append(_("The axes are there, in another order."))
    elif actual.squeeze().shape == expected.squeeze().shape:
        hints.append(_("It has an axis of size 1 too many or too few."))
    elif actual.dim() == expected.dim() - 1 and actual.shape == expected.shape[1:]:
        hints.append(_("The first axis is gone."))
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
        return _contrast(expected_, received)
    template = _("{count} of {total} values differ, the first at {where}: {difference}")
    difference = _contrast(expected_, received)
    return template.format(count=count, total=total, where=where, difference=difference)


def _where(index: tuple[int, ...], axes: Sequence[str]) -> str:
    if len(axes) == len(index):
        return listed(f"{axis} {place}" for axis, place in zip(axes, index, strict=True))
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
        hints.append(_("It contains NaN (not a number)."))
    elif bool(actual.isinf().any()) and not bool(expected.isinf().any()):
        hints.append(_("It contains an infinity."))
    if expected.is_complex():
        return hints
    loose = 10 * atol
    finite = actual.isfinite() & expected.isfinite()
    hints += _ratio_hint(actual[finite], expected[finite], loose) if finite.all() else []
    is_square = actual.dim() >= 2 and actual.shape == actual.mT.shape
    is_symmetric = is_square and torch.allclose(expected.mT, expected, rtol=0, atol=loose)
    if is_square and not is_symmetric and torch.allclose(actual.mT, expected, rtol=0, atol=loose):
        hints.append(_("It is the expected result transposed."))
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
        return [_("It has the opposite sign.")]
    root = _root_words(ratio)
    template = _("Every value is {ratio} times the expected one.")
    if root:
        template = _("Every value is {ratio} times the expected one, {root}.")
    return [template.format(ratio=f"{ratio:.4g}", root=root)]


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
    is_wrong = (flat - ones).abs() >= tolerance
    told = flat if bool(is_wrong[:4].any()) else flat[is_wrong]
    shown = ", ".join(number(value) for value in told[:4].tolist())
    more = ", …" if len(flat) > 4 else ""
    template = _("Its values sum to {sums} instead of 1.")
    if expected.dim() > 1:
        template = _("Its rows sum to {sums} instead of 1.")
    hints = [template.format(sums=f"{shown}{more}")]
    if actual.dim() >= 2 and bool(((actual.sum(-2) - ones).abs() < tolerance).all()):
        hints.append(_("Its columns sum to 1: it was computed along another axis."))
    return hints


def _tensor_words(tensor: torch.Tensor, say: Say) -> str:
    if tensor.dim() == 0:
        return say("a tensor of a single number")
    return say("a tensor of shape {shape}").format(shape=tuple(tensor.shape))


def describe(value: Any, say: Say = _) -> str:
    """A value in a few words; never a student's own text at length.

    Args:
        value: what came from the student, or what was expected.
        say: puts the words into the language of the run; `str` leaves them as they are.
    """
    if isinstance(value, torch.Tensor):
        return _tensor_words(value, say)
    if isinstance(value, RemoteObject):
        name, kind = clean(value.type_name, 80), clean(value.kind, 20)
        if value.number:
            return say("an instance of {name}").format(name=name)
        return say("the {kind} itself").format(kind=kind)
    if isinstance(value, Unsupported):
        return say("a value of type {name}").format(name=clean(value.type_name, 80))
    if isinstance(value, list | tuple):
        return say("a {kind} of {size}").format(kind=type(value).__name__, size=len(value))
    if isinstance(value, Mapping):
        return say("a dict of {size}").format(size=len(value))
    if isinstance(value, bool | None):
        return f"{value}"
    if isinstance(value, int):
        return f"{value}" if value.bit_length() < 128 else say("a number of dozens of digits")
    if isinstance(value, float):
        return f"{value!r}"
    if isinstance(value, str):
        return say("the text {text}").format(text=repr(clean(value[:60])))
    return type(value).__name__
