"""Names a student's mistakes: by the values that the checks judged, never by the code's text.

Pure: from how the checks went, for the student and with each known mistake, to findings.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from msgspec.structs import replace

from grader.core.records import Finding, Mistake
from grader.sandbox.kinds import EXACT, Record
from grader.sandbox.tables import is_missing, is_moment, is_table
from grader.sandbox.torch_later import is_tensor, torch

ATOL = 1e-5
RTOL = 1e-5
SAMPLED = 256
"""How many values of a large tensor are compared, evenly spread."""

MOST_CANDIDATES = 3
"""Where more mistakes than this look the same, there is no finding."""

INFINITE = float("inf")

BROKEN = "broken"
"""The end of a check that failed by itself: it says nothing about the student."""

BY_CHANCE = "by chance"
"""Stands for a reply that is not the same each time: it is not compared."""

Fingerprint: TypeAlias = (
    "bool | int | float | str | torch.Tensor | list[int] | tuple[Fingerprint, ...] | None"
)
"""A judged value as it is compared and recorded.

A tensor is `("tensor", shape, dtype, values)`, a dict its items, and what is no plain data the
name of its type.
"""


@dataclass(frozen=True, slots=True)
class Trace:
    """How one check ended, and a fingerprint of each value it judged.

    Args:
        end: "passed", "mismatch", or the kind of failure, whether the line was the student's own,
            and the exception's type and message.
        is_evidence: whether a mistake may be recognised by this check alone; not by one that only
            differs in NaN or an infinity. It counts for the student's own traces.
        replied: of a check that did not pass, a fingerprint of all that came back.
    """

    end: str
    judged: tuple[Fingerprint, ...]
    is_evidence: bool = True
    replied: tuple[Fingerprint, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the check did not pass."""
        return self.end != "passed"

    @property
    def has_tensor(self) -> bool:
        """Whether it judged more than yes and no: a tensor of two values or more."""
        return _has_tensor(self.judged)


Traces = Mapping[str, Trace]


@dataclass(frozen=True, slots=True)
class Known:
    """A known mistake, or two at once, and how each check goes with it.

    Args:
        is_over: whether one of them ended so that no later check of the exercise was run.
    """

    mistakes: tuple[Mistake, ...]
    traces: Traces
    is_over: bool = False


def fingerprint(value: Any) -> Fingerprint:
    """A judged value in a form that can be compared and recorded: large tensors are sampled."""
    if is_tensor(value):
        data = value.detach().flatten()
        if data.numel() > SAMPLED:
            data = data[torch.arange(SAMPLED) * (data.numel() - 1) // (SAMPLED - 1)]
        data = data.to(torch.complex128 if data.is_complex() else torch.float64)
        return ("tensor", list(value.shape), str(value.dtype), data)
    if isinstance(value, list | tuple):
        return tuple(fingerprint(item) for item in value)
    if isinstance(value, dict):
        items = sorted(((str(key), item) for key, item in value.items()), key=lambda pair: pair[0])
        return tuple((key, fingerprint(item)) for key, item in items)
    if isinstance(value, float):
        return float(value)  # whichever type of number it is
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUMm":
        return ("array", list(value.shape), *map(repr, value.ravel().tolist()))
    if isinstance(value, np.ndarray):
        return ("array", fingerprint(torch.from_numpy(value)))
    if isinstance(value, set | frozenset):
        return ("set", *sorted(repr(fingerprint(item)) for item in value))
    if isinstance(value, bytes | bytearray):
        return ("bytes", hashlib.blake2b(value).hexdigest())
    if isinstance(value, complex):
        return ("complex", value.real, value.imag)
    if isinstance(value, EXACT):
        return (type(value).__name__, repr(value))
    if isinstance(value, deque):
        return ("deque", *(fingerprint(item) for item in value))
    if isinstance(value, Record):
        return ("record", value.type_name, fingerprint(value.fields))
    if is_table(value):
        return (type(value).__name__, *_of_table(value))
    if is_moment(value) or is_missing(value):
        return ("moment", repr(value))
    return type(value).__name__


def _of_table(table: Any) -> Iterator[Fingerprint]:
    """What a frame, a series or an index of pandas holds."""
    if len(table.shape) > 1:
        yield fingerprint([*table.columns])
        for at in range(table.shape[1]):
            yield from _of_table(table.iloc[:, at])
        return
    yield fingerprint([*table.index] if hasattr(table, "index") else [])
    yield fingerprint(table.tolist())


def distance(one: Fingerprint, other: Fingerprint) -> float:
    """How far two fingerprints are apart: 0 where they are equal, infinite where they differ in kind.

    In units of the values, and where some of a tensor are above 1 in multiples of the largest.
    """
    if is_tensor(one) and is_tensor(other):
        return _tensor_distance(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return _farthest(one, other) if len(one) == len(other) else INFINITE
    if isinstance(one, float) and isinstance(other, float):
        if one == other or (math.isnan(one) and math.isnan(other)):
            return 0.0
        gap = abs(one - other) / max(1.0, abs(other) * RTOL / ATOL)
        return INFINITE if math.isnan(gap) else gap
    return 0.0 if type(one) is type(other) and one == other else INFINITE


def _farthest(one: Iterable[Fingerprint], other: Iterable[Fingerprint]) -> float:
    """The largest distance between values at one place, as far as both have some."""
    return max((distance(a, b) for a, b in zip(one, other, strict=False)), default=0.0)


def _tensor_distance(one: torch.Tensor, other: torch.Tensor) -> float:
    if one.shape != other.shape or one.dtype != other.dtype:
        return INFINITE
    if torch.equal(one, other):
        return 0.0
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one - other).abs().masked_fill(same, 0)
    if not bool(gap.isfinite().all()):
        return INFINITE
    # Where sums of large numbers are small, they are rounded as the large ones are.
    size = other.abs().masked_fill(~other.isfinite(), 0).max()
    return float(gap.max() / max(1.0, float(size) * RTOL / ATOL))


def trace_distance(one: Trace, other: Trace) -> float:
    """How far two runs of one check are apart, the student's and a mistake's.

    What a mistake draws is another value each time: a student's is like it that is drawn as well, or
    happens to be right.
    """
    if BY_CHANCE in other.judged and {one.end, other.end} <= {"passed", "mismatch"}:
        return 0.0 if not one.failed or BY_CHANCE in one.judged else INFINITE
    if one.end != other.end or len(one.judged) != len(other.judged):
        return INFINITE
    if len(one.replied) != len(other.replied):
        return INFINITE
    replies = zip(one.replied, other.replied, strict=True)
    gaps = [distance(*pair) for pair in replies if BY_CHANCE not in pair]
    return max([_farthest(one.judged, other.judged), *gaps])


def separation(one: Traces, other: Traces) -> float:
    """The largest distance over all checks: what distinguishes two mistakes.

    That one of two passes a check is no distance by itself. A check stops at its first mismatch,
    so only what both judged is compared.
    """
    return max((_value_distance(one[id_], other[id_]) for id_ in one if id_ in other), default=0.0)


def _value_distance(one: Trace, other: Trace) -> float:
    if one.end != other.end and not {one.end, other.end} <= {"passed", "mismatch"}:
        return INFINITE
    gap = _farthest(one.judged, other.judged)
    is_same_end = one.end == other.end and len(one.judged) == len(other.judged)
    return gap if is_same_end or gap > ATOL else INFINITE


def diagnose(
    student: Traces, known: Sequence[Known], pairs: Callable[[], Sequence[Known]]
) -> tuple[Finding, ...]:
    """The mistakes that explain what went wrong in an exercise.

    First one mistake that explains every check; then, per failing check, mistakes that explain it;
    then two mistakes at once; else nothing.

    Args:
        student: how the checks that ran went.
        known: the exercise's known mistakes, one at a time.
        pairs: returns the known mistakes two at a time; called only where needed.
    """
    failing = {id_: trace for id_, trace in student.items() if trace.failed}
    if not any(trace.is_evidence for trace in failing.values()):
        return ()
    if whole := [entry for entry in known if _explains(entry, student)]:
        return _named(whole)
    covered, rest = _cover(failing, known, student)
    if not rest and len(covered) == 1:
        return covered
    two = pairs()
    if not rest and _go_together(covered, two, student):
        return covered
    if both := [entry for entry in two if _explains(entry, student)]:
        return _named(both)
    if not rest:  # each explains a part, but nobody makes them at once
        return ()
    more, still = _cover(rest, two, student)
    if still:  # something else is wrong, too: keep only what rests on more than yes and no
        covered = tuple(f for f in covered if _rests_on_tensors(f, failing, known, still))
        more = tuple(f for f in more if _rests_on_tensors(f, rest, two, still))
        return _merged(replace(f, is_partial=True) for f in (*covered, *more))
    return _merged((*covered, *more))


def _agrees(entry: Known, id_: str, trace: Trace) -> bool:
    """Whether a check goes with a known mistake as it went for the student."""
    return id_ in entry.traces and trace_distance(trace, entry.traces[id_]) <= ATOL


def _explains(entry: Known, traces: Traces) -> bool:
    return all(_agrees(entry, id_, trace) for id_, trace in traces.items())


def _named(entries: Sequence[Known]) -> tuple[Finding, ...]:
    """Findings for what looks the same: what all have is certain, what differs is "one of"."""
    shared = [m for m in entries[0].mistakes if all(m in entry.mistakes for entry in entries)]
    others = tuple(dict.fromkeys(m for e in entries for m in e.mistakes if m not in shared))
    findings = tuple(Finding((mistake,)) for mistake in shared)
    return (*findings, Finding(others)) if 0 < len(others) <= MOST_CANDIDATES else findings


def _cover(
    failing: Traces, known: Sequence[Known], student: Traces
) -> tuple[tuple[Finding, ...], dict[str, Trace]]:
    """The fewest mistakes that explain failing checks one by one, and the checks left over."""
    explained = [
        ({id_ for id_, trace in failing.items() if _agrees(entry, id_, trace)}, entry)
        for entry in known
        if not _is_contradicted(entry, student)
    ]
    rest = dict(failing)
    findings: list[Finding] = []
    while rest:
        left = [(ids & rest.keys(), entry) for ids, entry in explained]
        left = [(ids, entry) for ids, entry in left if any(rest[id_].is_evidence for id_ in ids)]
        most = max((ids for ids, _ in left), key=len, default=set())
        if not most:
            break
        findings += _named(_likeliest([entry for ids, entry in left if ids == most], student))
        rest = {id_: trace for id_, trace in rest.items() if id_ not in most}
    return tuple(findings), rest


def _go_together(findings: Sequence[Finding], pairs: Sequence[Known], student: Traces) -> bool:
    """Whether mistakes that explain a part each can be made at once, without going otherwise."""
    by_ids = {frozenset(mistake.id for mistake in pair.mistakes): pair for pair in pairs}

    def can_be(one: Mistake, other: Mistake) -> bool:
        pair = by_ids.get(frozenset((one.id, other.id)))
        return pair is not None and not _is_contradicted(pair, student)

    return all(
        any(can_be(one, other) for one in a.candidates for other in b.candidates)
        for a, b in combinations(findings, 2)
    )


def _likeliest(entries: list[Known], student: Traces) -> list[Known]:
    """Of mistakes that explain the same failing checks, those that agree with most other checks."""
    agreeing = [sum(_agrees(entry, id_, student[id_]) for id_ in student) for entry in entries]
    return [entry for entry, n in zip(entries, agreeing, strict=True) if n == max(agreeing)]


def _is_contradicted(entry: Known, student: Traces) -> bool:
    """Whether a check that the mistake fails went otherwise for the student."""
    return any(
        trace.failed and id_ in student and not _agrees(entry, id_, student[id_])
        for id_, trace in entry.traces.items()
    )


def _merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each mistake once; what is certain somewhere is not repeated as a candidate."""
    findings = dict.fromkeys(findings)
    certain = {f.candidates[0].id for f in findings if len(f.candidates) == 1}
    return tuple(
        finding
        for finding in findings
        if len(finding.candidates) == 1 or not certain & {m.id for m in finding.candidates}
    )


def _rests_on_tensors(
    finding: Finding, failing: Traces, known: Sequence[Known], still: Traces
) -> bool:
    """Whether a partial finding rests on tensors, of at least half as many checks as nothing explains.

    Args:
        finding: what explains a part.
        failing: the checks that it is to explain.
        known: the known mistakes.
        still: the checks that nothing explains.
    """
    entries = [entry for entry in known if set(entry.mistakes) & set(finding.candidates)]
    shown = [t for id_, t in failing.items() if any(_agrees(one, id_, t) for one in entries)]
    explained = sum(t.has_tensor for t in shown)
    return explained > 0 and 2 * explained >= sum(t.has_tensor for t in still.values())


def _has_tensor(value: Fingerprint) -> bool:
    if is_tensor(value):
        return value.numel() > 1
    return isinstance(value, tuple) and any(_has_tensor(item) for item in value)
