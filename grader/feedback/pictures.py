"""Cuts what two tensors differ in down to a picture: a few rows and columns, with labels."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from grader.core.records import Axis, Number, Picture
from grader.course.printed_tensors import TOKENS, Ledger
from grader.testing.compare import Difference, wrong_values
from grader.testing.student import Call

MOST_SHOWN = 12
"""The most rows and columns."""

TEXT_AXES = ("token", "query", "key")
"""Axes whose positions are the tokens of a text."""

DIGITS = 7
"""The digits of a number that are kept: what a float32 has."""


def picture_of(
    difference: Difference, calls: tuple[Call, ...], ledger: Ledger, lines: tuple[int, int]
) -> Picture | None:
    """Expected and received around their first difference; None where there is nothing to show.

    Args:
        difference: two tensors of one shape, of one axis at least, that differ in their values.
        calls: the requests before, which show whether this is about the documents' text.
        ledger: the documents' printed tensors.
        lines: the lines of the message that show the tensors, which the picture can replace.
    """
    expected, actual = difference.expected, difference.actual
    if not _can_be_shown(expected, actual):
        return None
    right, mine = (tensor.detach().to(torch.float64) for tensor in (expected, actual))
    wrong = wrong_values(mine, right, difference.atol)
    if not bool(wrong.any()):  # they differ in dtype alone
        return None
    index = [int(position) for position in wrong.nonzero()[0]]
    leading, last = index[:-2], index[-2:] if len(index) > 1 else [0, *index]
    planes = [t[tuple(leading)].reshape(-1, t.shape[-1]) for t in (right, mine, wrong)]
    names = _axis_names(difference, right.dim())
    tokens = TOKENS if _is_of_the_text(difference, calls, ledger) else ()
    rows, columns = (
        _axis(name, size, position, tokens if key in TEXT_AXES else ())
        for name, key, size, position in zip(
            ("", *names)[-2:],
            ("", *(difference.keys or names))[-2:],
            planes[0].shape,
            last,
            strict=True,
        )
    )
    shown = [
        plane[rows.start : rows.start + MOST_SHOWN, columns.start : columns.start + MOST_SHOWN]
        for plane in planes
    ]
    return Picture(
        what=difference.what,
        expected=_numbers(shown[0]),
        received=_numbers(shown[1]),
        differs=tuple(tuple(bool(value) for value in row) for row in shown[2].tolist()),
        first=(last[0] - rows.start, last[1] - columns.start),
        rows=rows,
        columns=columns,
        slice=tuple(zip(names[:-2], leading, strict=True)),
        source=difference.source,
        lines=lines,
    )


def _axis_names(difference: Difference, count: int) -> tuple[str, ...]:
    return difference.axes if len(difference.axes) == count else ("",) * count


def _can_be_shown(expected: Any, actual: Any) -> bool:
    return (
        isinstance(expected, torch.Tensor)
        and isinstance(actual, torch.Tensor)
        and expected.shape == actual.shape
        and expected.numel() > 1
        and not expected.is_complex()
        and not actual.is_complex()
    )


def _axis(name: str, size: int, position: int, tokens: tuple[str, ...]) -> Axis:
    """One side: all of it where it is short, else a window with the first difference in it."""
    start = max(0, min(position - MOST_SHOWN // 2, size - MOST_SHOWN))
    return Axis(name, start, size, tokens if size == len(tokens) else ())


def _numbers(plane: torch.Tensor) -> tuple[tuple[Number, ...], ...]:
    return tuple(tuple(_number(value) for value in row) for row in plane.tolist())


def _number(value: float) -> Number:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


def _is_of_the_text(difference: Difference, calls: tuple[Call, ...], ledger: Ledger) -> bool:
    """Whether the numbers are about the documents' six tokens."""
    return bool(difference.source) or any(ledger.is_of_the_text(t) for t in _given(calls))


def _given(calls: tuple[Call, ...]) -> Iterator[torch.Tensor]:
    """The tensors that the requests were made with."""
    for call in calls:
        for value in (*call.args, *call.kwargs.values()):
            if isinstance(value, torch.Tensor) and value.dim() and not value.is_complex():
                yield value
