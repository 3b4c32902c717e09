"""Says how sets and bytes differ: what is missing and not expected, the first other byte. Pure."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from grader.core.language import _, listed
from grader.core.text import clean

SETS = (set, frozenset)
BYTES = (bytes, bytearray)

MOST_NAMED = 6
"""So many entries of a set are named."""

Found = tuple[str, tuple[str, ...]] | None
"""A difference in a sentence, and hints; None where there is no difference."""


def compare_sets(actual: Any, expected: Any) -> Found:
    """Which entries of two sets are in one of them alone; the kind of set does not count."""
    missing, more = expected - actual, actual - expected
    if not missing and not more:
        return None
    said = [_("missing: {entries}").format(entries=_named(missing))] if missing else []
    said += [_("not expected: {entries}").format(entries=_named(more))] if more else []
    return "; ".join(said), ()


def _named(entries: Iterable[Any]) -> str:
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
