"""Cuts what two tensors differ in down to a picture: a few rows and columns, with labels."""

from __future__ import annotations

from typing import Any

from grader.core.records import Axis, Picture
from grader.course.printed_tensors import Ledger
from grader.sandbox.torch_later import is_tensor, torch
from grader.testing.compare import Difference, wrong_values
from grader.testing.student import Call
from grader.testing.views import MOST_SHOWN, shown_numbers


def picture_of(
    difference: Difference, calls: tuple[Call, ...], ledger: Ledger, lines: tuple[int, int]
) -> Picture | None:
    """Expected and received around their first difference; None where there is nothing to show.

    Args:
        difference: two tensors of one shape, of one axis at least, that differ in their values.
        calls: the requests before, which show whether this is about the text that the labels are of.
        ledger: the course's printed tensors, with the labels of their positions.
        lines: the lines of the message that show the tensors, which the picture can replace.
    """
    expected, actual = difference.expected, difference.actual
    if not difference.what or not _can_be_shown(expected, actual):
        return None
    right, mine = (tensor.detach().to(torch.float64) for tensor in (expected, actual))
    wrong = wrong_values(mine, right, difference.atol, difference.rtol, difference.equal_nan)
    if not bool(wrong.any()):  # they differ in dtype alone
        return None
    index = [int(position) for position in wrong.nonzero()[0]]
    leading, last = index[:-2], index[-2:] if len(index) > 1 else [0, *index]
    planes = [t[tuple(leading)].reshape(-1, t.shape[-1]) for t in (right, mine, wrong)]
    names = difference.axes if len(difference.axes) == right.dim() else ("",) * right.dim()
    labelled, labels = _labels(difference, calls, ledger)
    rows, columns = (
        _axis(name, size, position, labels if key in labelled else ())
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
        expected=shown_numbers(shown[0]),
        received=shown_numbers(shown[1]),
        differs=tuple(tuple(bool(value) for value in row) for row in shown[2].tolist()),
        first=(last[0] - rows.start, last[1] - columns.start),
        rows=rows,
        columns=columns,
        slice=tuple(zip(names[:-2], leading, strict=True)),
        source=difference.source,
        lines=lines,
    )


def _can_be_shown(expected: Any, actual: Any) -> bool:
    return (
        is_tensor(expected)
        and is_tensor(actual)
        and expected.shape == actual.shape
        and expected.numel() > 1
        and not expected.is_complex()
        and not actual.is_complex()
    )


def _axis(name: str, size: int, position: int, labels: tuple[str, ...]) -> Axis:
    """One side: all of it where it is short, else a window with the first difference in it."""
    start = max(0, min(position - MOST_SHOWN // 2, size - MOST_SHOWN))
    return Axis(name, start, size, labels if size == len(labels) else ())


def _labels(
    difference: Difference, calls: tuple[Call, ...], ledger: Ledger
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes whose positions have labels, and these; none where the numbers are of other texts."""
    settings = ledger.settings
    if settings is None or not settings.labels or not _is_of_the_text(difference, calls, ledger):
        return (), ()
    return settings.axes, settings.labels


def _is_of_the_text(difference: Difference, calls: tuple[Call, ...], ledger: Ledger) -> bool:
    """Whether the numbers are about the text that the ledger's labels are of."""
    given = (value for call in calls for value in (*call.args, *call.kwargs.values()))
    tensors = (value for value in given if is_tensor(value))
    return bool(difference.source) or any(
        ledger.is_of_the_text(tensor)
        for tensor in tensors
        if tensor.dim() and not tensor.is_complex()
    )
