"""Says how texts of several lines, arrays of text or moments and pandas' tables differ from the expected ones. Pure."""

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

from grader.core.language import _, listed
from grader.core.text import clean
from grader.sandbox.tables import is_missing
from grader.testing.relations import Found, at

MOST_LABELS = 8
"""So many names of columns are listed."""

ALIKE = ({"O", "U"}, {"M"}, {"m"})
"""Kinds of arrays whose entries may be equal."""

Again = Callable[[Any, Any], Found]


def compare_texts(actual: str, expected: str) -> Found:
    """The first line that two texts differ in."""
    mine, right = actual.split("\n"), expected.split("\n")
    pairs = zip(mine, right, strict=False)
    number = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(right)))
    one, other = (
        repr(clean(lines[number][:80])) if number < len(lines) else _("no line")
        for lines in (right, mine)
    )
    words = _("line {number}: expected {expected}, received {actual}")
    return words.format(number=number + 1, expected=one, actual=other), ()


def compare_arrays(actual: Any, expected: Any, again: Again) -> Found:
    """The first entry that two arrays differ in, of which one at least is no array of numbers."""
    if not any({actual.dtype.kind, expected.dtype.kind} <= kinds for kinds in ALIKE):
        words = _("expected an array of {expected}, received one of {actual}")
        return words.format(expected=expected.dtype, actual=actual.dtype), ()
    if actual.shape != expected.shape:
        words = _("expected the shape {expected}, received {actual}")
        return words.format(expected=expected.shape, actual=actual.shape), ()
    for place in np.ndindex(expected.shape):
        if found := again(_plain(actual[place]), _plain(expected[place])):
            return at(str([*place]), found)
    return None


def compare_tables(actual: Any, expected: Any, again: Again) -> Found:
    """The first difference of two frames, series or indexes: columns, rows, labels, then values.

    What is missing in both is equal. Numbers of one kind are, whatever their width.
    """
    kind = type(expected).__name__
    if kind == "DataFrame" and list(actual.columns) != list(expected.columns):
        return _other_labels(list(actual.columns), list(expected.columns))
    if len(actual) != len(expected):
        words = _("expected {expected} rows, received {actual}")
        return words.format(expected=len(expected), actual=len(actual)), ()
    if kind not in ("DataFrame", "Series"):
        return again(_cells(actual), _cells(expected))
    names = list(actual.index.names), list(expected.index.names)
    found = again(*names) or again(_cells(actual.index), _cells(expected.index))
    if found:
        in_order = sorted(map(repr, actual.index)) == sorted(map(repr, expected.index))
        hint = (
            (_("The rows are there, in another order."),)
            if in_order and names[0] == names[1]
            else ()
        )
        return at(_("the index"), (found[0], hint or found[1]))
    if kind == "Series":
        return _compare_column(actual, expected, again)
    for place, name in enumerate(expected.columns):
        if found := _compare_column(actual.iloc[:, place], expected.iloc[:, place], again):
            return at(_("the column {name}").format(name=clean(repr(name), 60)), found)
    return None


def _other_labels(actual: list[Any], expected: list[Any]) -> Found:
    shown = (
        listed(clean(repr(name), 60) for name in some[:MOST_LABELS]) for some in (expected, actual)
    )
    words = _("expected the columns {expected}, received {actual}")
    is_ordered = sorted(map(repr, actual)) == sorted(map(repr, expected))
    hint = (_("The columns are there, in another order."),) if is_ordered else ()
    right, mine = (text or _("none") for text in shown)
    return words.format(expected=right, actual=mine), hint


def _compare_column(actual: Any, expected: Any, again: Again) -> Found:
    for label, one, other in zip(expected.index, _cells(actual), _cells(expected), strict=True):
        if found := again(one, other):
            return at(_("the row {name}").format(name=clean(repr(_plain(label)), 60)), found)
    return None


def _cells(column: Any) -> list[Any]:
    """The entries of a series or an index as Python has them; None for what is missing."""
    items = map(_plain, column.tolist())
    return [None if is_missing(i) or (isinstance(i, float) and isnan(i)) else i for i in items]


def _plain(item: Any) -> Any:
    """A number, truth value or text of numpy's as Python's own."""
    return item.item() if isinstance(item, np.bool_ | np.number | np.str_) else item
