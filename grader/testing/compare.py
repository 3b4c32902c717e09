"""Says how a value differs from the expected one, in a sentence and with hints. Pure."""

from __future__ import annotations

import cmath
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from grader.core.language import N_, _, listed, ngettext
from grader.core.text import clean
from grader.sandbox.failures import closest, renamed
from grader.sandbox.kinds import HASHED, Record
from grader.sandbox.plain_data import OtherFloat
from grader.sandbox.tables import is_missing, is_table
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.relations import (
    BYTES,
    MOST_TIMES,
    SETS,
    Found,
    at,
    compare_bytes,
    compare_sets,
    format_number,
    named,
    ratio_hints,
    rounded_hints,
    row_hints,
    row_sum_hints,
    score_hints,
    shape_relation,
    single_ratio_hints,
    value_relation,
)
from grader.testing.tables import compare_arrays, compare_tables, compare_texts

REFERENCE_ATOL = 1e-5
"""How far off values of about 1 may be: right variants of the solutions differ by at most 2e-6."""

REFERENCE_RTOL = 1e-5
"""The same of larger ones, as a share of the expected value."""

SMALLEST_ATOL = 1e-12
"""What double precision leaves of 0; pytest's."""

MOST_SIZES = 6
"""Lists of so few whole numbers, such as shapes, are shown as they are."""

NUMBERS = frozenset("biufc")
"""numpy's kinds of dtypes of numbers."""

MOST_PERMUTED = 4
"""The axes of a tensor of which every order is tried."""

NAN_IS_NOT_NAN = N_("Both are NaN, which is equal to nothing, not even to itself.")

Say = Callable[[str], str]
"""Puts words of ours into the language of the run."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How a value differs from the expected one: what a message is made of.

    Args:
        what: what was compared, in words; "" where numbers say nothing, and are not shown.
        summary: the difference in one sentence.
        hints: possible causes, a sentence each.
        source: where the expected value is printed, "" when it is computed.
        axes: names of the tensors' axes, in the language of the run.
        keys: the axes' names as checks give them.
        asked: the shape that was asked for, where nothing else was.
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
    rtol: float = REFERENCE_RTOL
    equal_nan: bool = False
    asked: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the tensor that was expected; None where it was none."""
        expected = self.expected
        return tuple(expected.shape) if is_tensor(expected) else self.asked


def tolerances(
    expected: Any, atol: float | None = None, rtol: float | None = None
) -> tuple[float, float]:
    """The absolute and the relative tolerance of a number or a tensor; the larger of the two counts.

    Without either it is 1e-5 of the expected value, and of the largest of a tensor where that is
    below 1. In single precision, which has seven digits of values around 1, it is at least 1e-5, as for
    an expected 0; whole numbers have none.

    Args:
        expected: the number or tensor.
        atol: as the check gives it; alone it is the only one.
        rtol: likewise; beside it only noise of double precision is left out.
    """
    if atol is not None:
        return atol, rtol or 0.0
    if rtol is not None:
        return SMALLEST_ATOL, rtol
    if is_tensor(expected):
        if not (expected.is_floating_point() or expected.is_complex()):
            return 0.0, 0.0
        if expected.dtype not in (torch.float64, torch.complex128):
            return REFERENCE_ATOL, REFERENCE_RTOL
        sizes = expected.detach().abs()
        largest = float(sizes[sizes.isfinite()].amax()) if bool(sizes.isfinite().any()) else 0.0
    else:
        largest = abs(expected) if math.isfinite(abs(expected)) else 0.0
    return max(SMALLEST_ATOL, REFERENCE_ATOL * min(largest or 1.0, 1.0)), REFERENCE_RTOL


def compare(
    actual: Any,
    expected: Any,
    atol: float | None = None,
    axes: Sequence[str] = (),
    any_dtype: bool = False,
    *,
    rtol: float | None = None,
    any_type: bool = True,
    equal_nan: bool = True,
) -> Found:
    """The difference between two values in a sentence with hints, or None where there is none.

    Args:
        actual: what came from the student.
        expected: plain data or a tensor; lists, tuples and dicts are compared item by item.
        atol: the absolute tolerance of floats and tensors; with an infinite one only a tensor's
            shape and dtype count. `tolerances` has the usual ones.
        axes: names of a tensor's axes.
        any_dtype: whether a tensor may have another dtype.
        rtol: the relative tolerance.
        any_type: whether a whole number may stand for a float, a list for a tuple or the other way
            round, and a tensor of one number for that number.
        equal_nan: whether NaN is equal to NaN.
    """
    again = partial(
        compare,
        atol=atol,
        axes=axes,
        any_dtype=any_dtype,
        rtol=rtol,
        any_type=any_type,
        equal_nan=equal_nan,
    )
    if isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray):
        if not {actual.dtype.kind, expected.dtype.kind} <= NUMBERS:
            return compare_arrays(actual, expected, again)
        found = again(torch.from_numpy(actual), torch.from_numpy(np.array(expected)))
        return found and (found[0].replace("torch.", ""), found[1])
    if isinstance(actual, np.ndarray):
        actual = Unsupported("numpy.ndarray")
    if is_tensor(expected):
        within = tolerances(expected.detach(), atol, rtol)
        return _compare_tensor(actual, expected.detach(), within, axes, any_dtype, equal_nan)
    if any_type and is_tensor(actual) and actual.numel() == 1:
        actual = actual.item()
    is_number = isinstance(actual, int | float) and not isinstance(actual, bool)
    if isinstance(expected, float) and is_number:
        found = _compare_numbers(actual, expected, tolerances(expected, atol, rtol), equal_nan)
        return found if any_type else found or _other_type(actual, expected, float)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _compare_mapping(actual, expected, again)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        found = _compare_sequence(actual, expected, again)
        return found if any_type else found or _other_type(actual, expected, list)
    if isinstance(expected, complex) and isinstance(actual, complex):
        is_close = _is_close(actual, expected, tolerances(expected, atol, rtol))
        is_nan = equal_nan and cmath.isnan(actual) and cmath.isnan(expected)
        return None if is_close or is_nan else (_contrast(f"{expected!r}", f"{actual!r}"), ())
    if isinstance(expected, Record) and isinstance(actual, Record):
        if actual.type_name == expected.type_name:
            return _compare_mapping(actual.fields, expected.fields, again)
        return _contrast(expected.type_name, clean(actual.type_name, 80)), ()
    if isinstance(expected, deque) and isinstance(actual, deque):
        return _compare_sequence(list(actual), list(expected), again)
    if isinstance(expected, SETS) and isinstance(actual, SETS):
        return compare_sets(actual, expected)
    if isinstance(expected, BYTES) and isinstance(actual, BYTES):
        return compare_bytes(actual, expected)
    if is_table(expected) and type(actual).__name__ == type(expected).__name__:
        return compare_tables(actual, expected, again)
    if isinstance(expected, np.ndarray) or is_table(expected) or is_table(actual):
        return _contrast(describe(expected), describe(actual)), ()
    if is_missing(expected) and type(actual) is type(expected) and is_missing(actual):
        return (
            None if equal_nan else (_contrast(repr(expected), repr(actual)), (_(NAN_IS_NOT_NAN),))
        )
    if type(actual) is type(expected) and actual == expected:
        return None
    if isinstance(actual, str) and isinstance(expected, str) and "\n" in expected:
        return compare_texts(actual, expected)
    if isinstance(actual, str) and isinstance(expected, str):
        return _contrast(f"{expected!r}", f"{clean(actual[:60])!r}"), ()
    hints = single_ratio_hints(actual, expected) if _may_be_told(actual, expected) else ()
    return _contrast(f"{expected!r}", describe(actual)), tuple(hints)


def _other_type(actual: Any, expected: Any, kind: type) -> Found:
    """Two values that are equal, where one alone is of a kind."""
    if isinstance(actual, kind) == isinstance(expected, kind):
        return None
    template = _("the value is right, its type is not: expected {expected}, received {actual}")
    names = {"expected": type(expected).__name__, "actual": type(actual).__name__}
    return template.format(**names), ()


def _may_be_told(actual: Any, expected: Any) -> bool:
    """Whether the ratio of two values may mean something: that of small whole numbers is chance."""
    if type(actual) is not int or type(expected) is not int or actual.bit_length() >= 64:
        return False
    return expected != 0 and (actual == -expected or min(abs(actual), abs(expected)) > MOST_TIMES)


def _contrast(expected: str, actual: str) -> str:
    return _("expected {expected}, received {actual}").format(expected=expected, actual=actual)


def _is_close(actual: complex, expected: complex, within: tuple[float, float]) -> bool:
    """Whether a number is within the absolute or the relative tolerance; of an infinity there is no share."""
    atol, rtol = within
    size = abs(expected) if cmath.isfinite(expected) else 0.0
    return actual == expected or abs(actual - expected) <= max(atol, rtol * size)


def _compare_numbers(
    actual: float, expected: float, within: tuple[float, float], equal_nan: bool
) -> Found:
    try:
        actual = float(actual)
    except OverflowError:
        return _contrast(f"{expected:.6g}", _("a number of hundreds of digits")), ()
    both_nan = math.isnan(actual) and math.isnan(expected)
    if _is_close(actual, expected, within) or (equal_nan and both_nan):
        return None
    one, other = f"{expected:.6g}", f"{actual:.6g}"
    if one == other:
        one, other = f"{expected!r}", f"{actual!r}"
    hints: Iterable[str] = ()
    if both_nan:
        hints = (_(NAN_IS_NOT_NAN),)
    if math.isfinite(actual) and math.isfinite(expected):
        hints = rounded_hints(actual, expected)
        if not (hints := tuple(hints)) and abs(expected) > max(1e-3, 20 * within[0]):
            hints = single_ratio_hints(actual, expected)
    return _contrast(one, other), tuple(hints)


def _compare_mapping(
    actual: Mapping[Any, Any], expected: Mapping[Any, Any], again: Callable[[Any, Any], Found]
) -> Found:
    if actual and not expected:
        names = listed(clean(repr(key), 60) for key in list(actual)[:6])
        return _contrast(_("none"), names), ()
    for key in dict.fromkeys((*expected, *actual)):
        name = clean(repr(key), 60)
        if key not in actual:
            return _("{name} is missing").format(name=name), _similar_key(key, actual, expected)
        if key not in expected:
            return _("{name} is not expected").format(name=name), ()
        if found := again(actual[key], expected[key]):
            others = ((clean(repr(k), 60), v) for k, v in expected.items() if k != key)
            return at(name, _of_another(actual[key], found, others, again))
    return None


def _of_another(
    actual: Any,
    found: tuple[str, tuple[str, ...]],
    others: Iterable[tuple[str, Any]],
    again: Callable[[Any, Any], Found],
) -> tuple[str, tuple[str, ...]]:
    """The same difference, with a hint where a tensor is what is expected elsewhere.

    Args:
        actual: the student's.
        found: how it differs from what is expected in its place.
        others: what is expected in other places, by their names.
        again: compares.
    """
    if is_tensor(actual) and actual.numel() > 1:
        for name, other in others:
            if is_tensor(other) and again(actual, other) is None:
                return found[0], (_("It is what is expected at {name}.").format(name=name),)
    return found


def _similar_key(
    key: Any, actual: Mapping[Any, Any], expected: Mapping[Any, Any]
) -> tuple[str, ...]:
    others = [other for other in actual if other not in expected]
    names = [other for other in others if isinstance(other, str)]
    similar = renamed(key, names, closest) if isinstance(key, str) else ""
    if not similar:
        return _not_asked_for(str(key), names)
    question = _("Did you mean {name} when you wrote {similar}?")
    question = question.format(name=clean(key, 80), similar=clean(similar, 80))
    return (question, *letter_case(key, similar))


def _not_asked_for(key: str, names: Sequence[str]) -> tuple[str, ...]:
    """What stands beside a name that is missing, and is not expected there."""
    inside = key.rpartition(".")[0]
    while inside and not any(name.startswith(f"{inside}.") for name in names):
        inside = inside.rpartition(".")[0]
    near = [name for name in names if name.startswith(f"{inside}." * bool(inside))]
    template = _("Found instead, and not expected: {names}")
    return (template.format(names=named(near)),) if near else ()


def letter_case(name: str, other: str) -> tuple[str, ...]:
    """A sentence where two names differ in nothing but capital letters."""
    if name == other or name.lower() != other.lower():
        return ()
    return (_("Only the capital letters differ, and they count."),)


def _compare_sequence(
    actual: Sequence[Any], expected: Sequence[Any], again: Callable[[Any, Any], Found]
) -> Found:
    if _are_few(_is_size, actual, expected):
        if [*actual] == [*expected]:
            return None  # but for which of the two kinds they are
        kind = tuple if isinstance(expected, tuple) else list
        return _contrast(f"{kind(expected)}", f"{kind(actual)}"), ()
    if len(actual) != len(expected):
        if _are_few(_is_number, actual, expected):
            shown = (f"[{', '.join(f'{v:.6g}' for v in values)}]" for values in (expected, actual))
            return _contrast(*shown), ()
        is_text = all(isinstance(value, str) for value in (*actual, *expected))
        if is_text and (found := compare_sets({*actual}, {*expected})):
            return found
        template = _("expected length {expected}, received length {actual}")
        return template.format(expected=len(expected), actual=len(actual)), ()
    for place, one, other in _entries(actual, expected):
        if found := again(one, other):
            at_index = _("position {index}").format
            others = ((at_index(index=n), v) for n, v in enumerate(expected) if v is not other)
            found = _of_another(one, found, others, again)
            return at(at_index(index=listed(map(str, place))), found)
    return None


def _entries(
    actual: Sequence[Any], expected: Sequence[Any], place: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Pairs of entries with their positions; of lists within lists theirs, where all is as long."""
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        is_list = isinstance(other, list | tuple) and type(one) is type(other)
        if is_list and len(one) == len(other) and not _are_few(_is_size, one, other):
            yield from _entries(one, other, (*place, index))
        else:
            yield (*place, index), one, other


def _are_few(
    is_kind: Callable[[Any], bool], actual: Sequence[Any], expected: Sequence[Any]
) -> bool:
    """Whether both are short, and all their entries of a kind."""
    is_short = max(len(actual), len(expected)) <= MOST_SIZES
    return is_short and all(map(is_kind, (*actual, *expected)))


def _is_number(value: Any) -> bool:
    return type(value) is float or _is_size(value)


def _is_size(value: Any) -> bool:
    return type(value) is int and value.bit_length() < 64


def _compare_tensor(
    actual: Any,
    expected: torch.Tensor,
    within: tuple[float, float],
    axes: Sequence[str],
    any_dtype: bool,
    equal_nan: bool,
) -> Found:
    atol, rtol = within
    if not is_tensor(actual):
        return _contrast(describe(expected), _kind_of(actual)), _no_tensor_hints(actual, expected)
    actual = actual.detach()
    if actual.shape != expected.shape:
        return _other_shape(actual, expected), _shape_hints(actual, expected, 10 * atol)
    if actual.dtype != expected.dtype and not any_dtype:
        template = _("the shape is right, the dtype is not: expected {expected}, received {actual}")
        return template.format(expected=expected.dtype, actual=actual.dtype), ()
    if actual.is_complex() != expected.is_complex():
        return _contrast(_("real numbers"), str(actual.dtype)), ()
    if math.isinf(atol):
        return None
    wide = torch.complex128 if expected.is_complex() else torch.float64
    mine, right = actual.to(wide), expected.to(wide)
    wrong = wrong_values(mine, right, atol, rtol, equal_nan)
    if not bool(wrong.any()):
        return None
    if not equal_nan and not bool(wrong_values(mine, right, atol, rtol).any()):
        return _value_summary(actual, expected, wrong, axes), (_(NAN_IS_NOT_NAN),)
    is_whole = not expected.is_floating_point()
    hints = tuple(_value_hints(mine, right, atol, is_whole=is_whole))
    if not hints and not mine.is_complex() and bool((mine - right).isfinite().all()):
        hints = tuple(value_relation(mine, right, atol, axes))
    return _value_summary(actual, expected, wrong, axes), hints


def _kind_of(value: Any) -> str:
    """What a value is that should be a tensor: numbers and lists by their type."""
    if isinstance(value, OtherFloat):
        template, kind = _("a {kind} ({number})"), clean(value.type_name, 80)
        return template.format(kind=kind, number=format_number(float(value)))
    if type(value) is float or (type(value) is int and value.bit_length() < 64):
        template, kind = _("a Python {kind} ({number})"), type(value).__name__
        return template.format(kind=kind, number=format_number(value))
    if isinstance(value, list | tuple) and len(value) > 1:
        template = ""
        if all(is_tensor(item) for item in value):
            template = _("a Python {kind} of {size} tensors")
        elif all(isinstance(item, int | float) for item in value):
            template = _("a Python {kind} of {size} numbers")
        if template:
            return template.format(kind=type(value).__name__, size=len(value))
    return describe(value)


def _no_tensor_hints(value: Any, expected: torch.Tensor) -> tuple[str, ...]:
    """Why it matters that a value is no tensor."""
    if isinstance(value, Unsupported) and "cuda" in value.type_name:
        return (_("The checks run on the CPU."),)
    items = value if isinstance(value, list | tuple) else [value]
    if isinstance(value, list) and value and all(is_tensor(i) for i in value):
        return _of_parts(value, expected)
    is_array = isinstance(value, Unsupported) and value.type_name.startswith("numpy.")
    is_number = all(isinstance(i, int | float) and not isinstance(i, bool) for i in items)
    if expected.is_floating_point() and (is_array or is_number):
        return (_("No gradient can flow through it: only tensors remember how they were made."),)
    return ()


def _of_parts(parts: list[torch.Tensor], expected: torch.Tensor) -> tuple[str, ...]:
    """Which function of torch makes the expected tensor of a list of its parts."""
    shape, count, wanted = list(parts[0].shape), len(parts), list(expected.shape)
    joined = [[*shape[:a], shape[a] * count, *shape[a + 1 :]] for a in range(len(shape))]
    if wanted in joined:
        return (_("`torch.cat` joins tensors along one of their axes."),)
    if wanted in [[*shape[:a], count, *shape[a:]] for a in range(len(shape) + 1)]:
        return (_("`torch.stack` makes one tensor of tensors of one shape."),)
    return ()


def wrong_values(
    actual: torch.Tensor,
    expected: torch.Tensor,
    atol: float,
    rtol: float = 0.0,
    equal_nan: bool = True,
) -> torch.Tensor:
    """Where two tensors differ: NaN and a number do, infinities of one sign do not.

    Args:
        actual: the student's.
        expected: of the same shape, which is also the result's.
        atol: the absolute tolerance.
        rtol: the relative one; the larger counts.
        equal_nan: whether two NaN are equal.
    """
    if actual.dtype == torch.bool:
        return actual != expected
    # No share of an infinity: every number would be within it.
    sizes = expected.abs().masked_fill(expected.isinf(), 0.0)
    wrong = ~((actual - expected).abs() <= (rtol * sizes).clamp(min=atol))
    wrong &= ~(actual == expected)
    return wrong & ~(actual.isnan() & expected.isnan()) if equal_nan else wrong


def _other_shape(actual: torch.Tensor, expected: torch.Tensor) -> str:
    single = _("a single number")
    if not expected.dim():
        return _contrast(single, _("the shape {shape}").format(shape=tuple(actual.shape)))
    template = _("expected the shape {expected}, received {actual}")
    received = tuple(actual.shape) if actual.dim() else single
    return template.format(expected=tuple(expected.shape), actual=received)


def _shape_hints(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> tuple[str, ...]:
    """What happened to the axes; of a shape alone only what holds whatever the values are."""
    if sorted(actual.shape) == sorted(expected.shape):
        if math.isinf(atol) or not _is_permuted(actual, expected, atol):
            return (_("The sizes are the expected ones, in another order."),)
        if _is_same(actual.mT, expected, atol):
            return (_("The last two axes are swapped."),)
        return (_("The axes are there, in another order."),)
    if actual.squeeze().shape == expected.squeeze().shape:
        return (_axes_of_one(actual.dim() - expected.dim()),)
    shapes = [
        (*expected.shape[:axis], *expected.shape[axis + 1 :]) for axis in range(expected.dim())
    ]
    if tuple(actual.shape) in shapes:
        first = shapes.index(tuple(actual.shape)) == 0 and shapes.count(shapes[0]) == 1
        return (_("The first axis is missing.") if first else _("An axis is missing."),)
    if actual.dim() and tuple(actual.shape) == (1, *expected.shape[1:]):
        words = _(
            "There is one entry instead of {count} along the first axis: does a loop end early?"
        )
        return (words.format(count=expected.shape[0]),)
    if actual.dim() == 1 < expected.dim() and 1 < actual.numel() < expected.numel():
        picked = _("It has one axis, as if a boolean mask had picked single values.")
        return (picked,)
    return tuple(shape_relation(actual.shape, expected.shape))


def _axes_of_one(more: int) -> str:
    """How many axes of size 1 a shape has too many, or too few where the number is negative."""
    count = abs(more)
    template = ngettext(
        "It has {count} axis of size 1 too many.", "It has {count} axes of size 1 too many.", count
    )
    if more < 0:
        template = ngettext(
            "It lacks {count} axis of size 1.", "It lacks {count} axes of size 1.", count
        )
    return template.format(count=count)


def _is_permuted(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> bool:
    """Whether a tensor has the expected values with its axes in another order."""
    orders = permutations(range(actual.dim())) if actual.dim() <= MOST_PERMUTED else ()
    return any(_is_same(actual.permute(order), expected, atol) for order in orders)


def _is_same(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> bool:
    if actual.shape != expected.shape or actual.is_complex() != expected.is_complex():
        return False
    wide = torch.complex128 if expected.is_complex() else torch.float64
    return not bool(wrong_values(actual.to(wide), expected.to(wide), atol).any())


def _value_summary(
    actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, axes: Sequence[str]
) -> str:
    index = tuple(int(position) for position in wrong.nonzero()[0])
    difference = _contrast(*_apart(expected[index].item(), actual[index].item()))
    if wrong.numel() == 1:
        return difference
    where = f"[{', '.join(map(str, index))}]"
    if len(axes) == len(index):
        where = listed(f"{axis} {position}" for axis, position in zip(axes, index, strict=True))
    template = _("{count} of {total} values differ, the first at {where}: {difference}")
    count, total = int(wrong.sum()), wrong.numel()
    return template.format(count=count, total=total, where=where, difference=difference)


def _apart(one: Any, other: Any) -> tuple[str, str]:
    """Two different numbers, with as many decimals as it takes to see the difference."""
    shown = ((format_number(one, digits), format_number(other, digits)) for digits in range(4, 9))
    return next((pair for pair in shown if pair[0] != pair[1]), (f"{one!r}", f"{other!r}"))


def _value_hints(
    actual: torch.Tensor, expected: torch.Tensor, atol: float, *, is_whole: bool
) -> Iterable[str]:
    """Possible causes of wrong values: ratios, row sums, and the like; of numbers of things, no ratio."""
    if bool(actual.isnan().any()) and not bool(expected.isnan().any()):
        yield _(
            "It contains NaN (not a number), as 0 / 0, infinity / infinity, infinity - infinity, 0 times "
            "infinity and a softmax over minus infinity alone give."
        )
    elif bool(actual.isinf().any()) and not bool(expected.isinf().any()):
        yield _("It contains an infinity.")
        if _is_hidden(actual, expected, atol):
            yield _(
                "It is minus infinity where 0 is expected: only a softmax, or an exponential, makes 0 of "
                "minus infinity."
            )
    if expected.is_complex():
        return
    loose = 10 * atol
    if bool((actual.isfinite() & expected.isfinite()).all()):
        yield from rounded_hints(actual, expected)
        if not is_whole:
            yield from ratio_hints(actual.flatten(), expected.flatten(), loose)
        yield from row_hints(actual, expected)
        yield from score_hints(actual, expected)
    is_square = actual.dim() >= 2 and actual.shape == actual.mT.shape
    is_symmetric = is_square and torch.allclose(expected.mT, expected, rtol=0, atol=loose)
    if is_square and not is_symmetric and torch.allclose(actual.mT, expected, rtol=0, atol=loose):
        yield _("It is the expected result transposed.")
    yield from row_sum_hints(actual, expected, loose)


def _is_hidden(actual: torch.Tensor, expected: torch.Tensor, atol: float) -> bool:
    """Whether minus infinity stands for some of the expected zeros, and all else is right."""
    if actual.is_complex():
        return False
    shown = actual.masked_fill(actual.isneginf(), 0.0)
    return not bool(wrong_values(shown, expected, atol).any())


def describe(value: Any, say: Say = _) -> str:
    """A value in a few words, never a student's text at length; `say=str` leaves them in English."""
    if is_tensor(value):
        words = (
            say("a tensor of shape {shape}") if value.dim() else say("a tensor of a single number")
        )
        return words.format(shape=tuple(value.shape))
    if isinstance(value, RemoteObject):
        words = say("an instance of {name}") if value.number else say("the {kind} itself")
        return words.format(name=clean(value.type_name, 80), kind=clean(value.kind, 20))
    if isinstance(value, Unsupported):
        return say("a value of type {name}").format(name=clean(value.type_name, 80))
    if isinstance(value, list | tuple):
        return say("a {kind} of {size}").format(kind=type(value).__name__, size=len(value))
    if isinstance(value, Mapping):
        return say("a dict of {size}").format(size=len(value))
    if isinstance(value, int) and value.bit_length() >= 128:
        return say("a number of dozens of digits")
    if isinstance(value, bool | int | float | None):
        return f"{value!r}"
    if isinstance(value, np.ndarray):
        return say("a numpy array of shape {shape}").format(shape=value.shape)
    if is_table(value) and len(value.shape) > 1:
        return say("a DataFrame of shape {shape}").format(shape=value.shape)
    if is_table(value):
        return say("a {kind} of {size}").format(kind=type(value).__name__, size=len(value))
    if is_missing(value) or type(value).__module__.partition(".")[0] in ("numpy", "pandas"):
        return clean(repr(value), 80)  # a moment
    if isinstance(value, SETS):
        return say("a {kind} of {size}").format(kind=type(value).__name__, size=len(value))
    if isinstance(value, BYTES):
        return say("{size} bytes").format(size=len(value))
    if isinstance(value, (*HASHED, Record)):
        return clean(repr(value), 80)
    if isinstance(value, str):
        return say("the text {text}").format(text=repr(clean(value[:60])))
    return type(value).__name__
