"""Pairs of students by the rare things they share, and groups of such pairs."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2

from grader.extras.similarity.traces import Kind, Trace, Work

WEIGHTS = {
    Kind.CELL: 4.0,
    Kind.VALUES: 4.0,
    Kind.COMMENT: 2.0,
    Kind.FORM: 1.2,
    Kind.STRING: 1.0,
    Kind.NAME: 0.8,
    Kind.LINE: 0.5,
    Kind.REMOVED: 0.5,
}
"""How telling a trace is, by its kind, before its rarity."""

MOST_COUNTED = 6
MOST_OF_KIND = {Kind.LINE: 4, Kind.FORM: 2}
"""Traces of one kind that count, more of the same say little more; the form of code never tells."""

TELLING = 3.0
"""A pair is shown from here on: two comments that nobody else has, or one cell's random id."""

RARE, RARE_SHARE = 3, 0.02
"""A trace counts where at most so many have it, or this share of the class."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A trace that two students share, and how many others have it."""

    trace: Trace
    others: int
    weight: float

    @property
    def who_else(self) -> str:
        """How many others have it, for people."""
        counts = {0: "nobody else has it", 1: "1 other student has it"}
        return counts.get(self.others, f"{self.others} other students have it")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two students and what they share, the most telling first.

    Args:
        score: the sum of what it is made of; 1 is a name that nobody else has, or a little more.
    """

    one: str
    other: str
    score: float
    shared: tuple[Shared, ...]

    @property
    def kinds(self) -> dict[Kind, int]:
        """How many traces of each kind."""
        return dict(Counter(shared.trace.kind for shared in self.shared))


def find_pairs(works: Sequence[Work], together: Iterable[Collection[str]] = ()) -> tuple[Pair, ...]:
    """The pairs that share telling traces, the most telling first.

    Of several students who share the same things one pair stands among these; the others, of whom
    nothing new is told, come last.

    Args:
        works: everybody's, earlier years' as well: two of these make no pair.
        together: groups whose members were meant to work together: they make no pair.
    """
    archived = {work.student for work in works if work.is_archived}
    allowed = {frozenset(two) for group in together for two in combinations(sorted(group), 2)}
    owners: dict[Trace, list[str]] = defaultdict(list)
    for work in works:
        for trace in work.traces:
            owners[trace].append(work.student)
    most = max(RARE, int(RARE_SHARE * len(works)))
    found: dict[tuple[str, str], list[Shared]] = defaultdict(list)
    for trace, students in owners.items():
        if not 2 <= len(students) <= most:
            continue
        # 1 for what only two have, less for what more have; less in a small class, too.
        rarity = log2(1 + len(works) / len(students)) / log2(1 + max(len(works), 40) / 2)
        weight = WEIGHTS[trace.kind] * rarity
        if trace.kind is Kind.COMMENT and len(trace.text) < 12:
            weight /= 2  # a word or two say half as much
        shared = Shared(trace, len(students) - 2, weight)
        for one, other in combinations(sorted(students), 2):
            if not {one, other} <= archived and frozenset((one, other)) not in allowed:
                found[one, other].append(shared)
    pairs = (_pair(*two, shared) for two, shared in found.items())
    telling = [pair for pair in pairs if pair.score >= TELLING]
    return _new_first(sorted(telling, key=lambda pair: (-pair.score, pair.one, pair.other)))


def _new_first(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Pairs that share enough of what no pair before them shares, then the others."""
    new, others, told = [], [], set[Trace]()
    for pair in pairs:
        if _score([shared for shared in pair.shared if shared.trace not in told]) >= TELLING:
            new.append(pair)
            told.update(shared.trace for shared in pair.shared)
        else:
            others.append(pair)
    return (*new, *others)


def _pair(one: str, other: str, shared: list[Shared]) -> Pair:
    shared.sort(key=lambda s: (-s.weight, s.trace))
    return Pair(one, other, _score(shared), tuple(shared))


def _score(shared: Sequence[Shared]) -> float:
    """How telling it is all together; of each kind the heaviest count."""
    counted: Counter[Kind] = Counter()
    names = {entry.trace.text for entry in shared if entry.trace.kind is Kind.NAME}
    score, habits = 0.0, set[str]()
    for entry in shared:
        kind, words = entry.trace.kind, re.findall(r"\w+", entry.trace.text)
        if kind is Kind.LINE and names.intersection(words):
            continue  # its rare name counts by itself
        if kind is Kind.COMMENT:
            if entry.trace.text in habits:
                continue  # the same words in several assignments are one habit
            habits.add(entry.trace.text)
        counted[kind] += 1
        if counted[kind] <= MOST_OF_KIND.get(kind, MOST_COUNTED):
            score += entry.weight
    return round(score, 1)


def clusters(pairs: Iterable[Pair]) -> tuple[tuple[str, ...], ...]:
    """Groups of three and more that pairs connect, the largest first."""
    near: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        near[pair.one].add(pair.other)
        near[pair.other].add(pair.one)
    groups, seen = [], set[str]()
    for student in sorted(near):
        if student not in seen:
            group = _reachable(student, near)
            seen |= group
            groups.append(tuple(sorted(group)))
    return tuple(sorted((g for g in groups if len(g) > 2), key=lambda g: (-len(g), g)))


def _reachable(start: str, near: Mapping[str, set[str]]) -> set[str]:
    found, todo = {start}, [start]
    while todo:
        more = near[todo.pop()] - found
        found |= more
        todo += more
    return found
