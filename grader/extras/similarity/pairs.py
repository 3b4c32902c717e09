"""Pairs of students by the rare things they share, and groups of such pairs.

What two share is measured in bits: with each bit, sharing it by chance is half as likely.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb, log2

from grader.extras.similarity.traces import TEXTS, Kind, Trace, Work

RARE, RARE_SHARE = 3, 0.02
"""A trace counts where at most so many have it, or this share of the class."""
MOST_OF_TEXT = {Kind.COMMENT: 3, Kind.STRING: 3, Kind.NAME: 1}
"""The words of a text count for at most so many words that nobody else has."""
CODE = {Kind.CODE, Kind.STEP}
"""Kinds of which some students have many, and share some by chance."""
CHOSEN = {*CODE, Kind.ORDER}
"""Kinds that say nothing of who has none: two of those who have some may share one."""
MOST_OF_CODE = 2
"""At most so many similarities of one definition count, the second one half."""
OF_ONE_SOURCE = 0.1
"""Code that no greater share of the class writes, and not these two alone, has a source, as has its comment."""
NEAR = 0.6
"""The share of what makes a pair telling from which it is a near miss."""
WORDS = re.compile(r"[^\W\d_\u3040-\u9fff]+|[\u3040-\u9fff]")
"""Words of letters; of a language without spaces its signs."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A trace that two students share, how many others have it, and what it adds in bits."""

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
        score: the bits of all together.
    """

    one: str
    other: str
    score: float
    shared: tuple[Shared, ...]


def find_pairs(
    works: Sequence[Work], together: Iterable[Collection[str]] = ()
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The pairs that share what is telling, and those that share nearly so much; the first share most.

    Of several students who share the same things one pair stands among these; the others, of whom
    nothing new is told, come last.

    Args:
        works: everybody's, earlier years' as well: two of these make no pair.
        together: groups whose members were meant to work together: they make no pair.
    """
    archived = {work.student for work in works if work.is_archived}
    allowed = {frozenset(two) for group in together for two in combinations(sorted(group), 2)}
    rarity = Rarity.of(works)
    found: dict[tuple[str, str], list[Trace]] = defaultdict(list)
    for trace, students in rarity.owners.items():
        for one, other in combinations(sorted(students), 2):
            if not {one, other} <= archived and frozenset((one, other)) not in allowed:
                found[one, other].append(trace)
    pairs, near, least = list[Pair](), list[Pair](), NEAR * rarity.telling
    for (one, other), traces in found.items():
        shared = rarity.shared(one, other, traces)
        bits = sum(entry.weight for entry in shared)
        if bits >= least:
            kept = pairs if bits >= rarity.telling else near
            kept.append(Pair(one, other, round(bits, 1), tuple(shared)))
    for some in (pairs, near):
        some.sort(key=lambda pair: (-pair.score, pair.one, pair.other))
    return _new_first(pairs, rarity, rarity.telling), _new_first(near, rarity, least)


@dataclass(frozen=True, slots=True)
class Rarity:
    """How surprising it is that two share something, in one class.

    Args:
        owners: who has each trace that few have, alone or with others.
        words: who wrote each word.
        rare: how many traces of a kind that few have a student has.
        chances: how often two share such a trace, by its kind and how many have it at most, for each
            two that one and the other have.
        code: which code a student wrote in a definition.
        same_code: who wrote it.
        students: how many there are.
    """

    owners: Mapping[Trace, Sequence[str]]
    words: Mapping[str, Collection[str]]
    rare: Mapping[tuple[Kind, str], int]
    chances: Mapping[tuple[Kind, int], float]
    code: Mapping[tuple[str, str], Trace]
    same_code: Mapping[Trace, Collection[str]]
    students: int

    @classmethod
    def of(cls, works: Sequence[Work]) -> "Rarity":
        """What a class shares."""
        owners: dict[Trace, list[str]] = defaultdict(list)
        words: dict[str, set[str]] = defaultdict(set)
        for work in works:
            for trace in work.traces:
                owners[trace].append(work.student)
            for word in chain(*(_words(t) for t in work.traces if t.kind in TEXTS)):
                words[word].add(work.student)
        most = max(RARE, int(RARE_SHARE * len(works)))
        few = {trace: some for trace, some in owners.items() if len(some) <= most}
        rare = Counter((trace.kind, student) for trace, some in few.items() for student in some)
        sharing = Counter((trace.kind, len(some)) for trace, some in few.items())
        chances = {}
        for kind in Kind:
            counts = [rare[kind, work.student] if kind in CHOSEN else 1 for work in works]
            meetings = (sum(counts) ** 2 - sum(count**2 for count in counts)) / 2
            for size in range(2, most + 1):
                pairs = sum(sharing[kind, n] * comb(n, 2) for n in range(2, size + 1))
                chances[kind, size] = pairs / max(meetings, 1)
        code = {
            (work.student, trace.place): trace
            for work in works
            for trace in work.traces
            if trace.kind is Kind.CODE
        }
        same = {trace: owners[trace] for trace in code.values()}
        return cls(few, words, rare, chances, code, same, len(works))

    @property
    def telling(self) -> float:
        """So many bits are as rare as one pair of the class."""
        return log2(max(comb(self.students, 2), 2))

    def shared(self, one: str, other: str, traces: Iterable[Trace]) -> list[Shared]:
        """What each trace of a pair adds to those that say more, the most telling first.

        A word counts once. Of the code of one definition each trace says half as much as the one
        before. What more than three have may have one source, and counts once.
        """
        found, before, told = list[Shared](), Counter[str](), Told()
        traces = [*traces]
        common = Counter(trace.kind for trace in traces)
        places = {_group(trace) for trace in traces if trace.kind in CODE} | {"many"}
        bits_of = {trace: self._bits(one, other, trace, common) for trace in traces}
        order = sorted(bits_of, key=lambda t: (t.kind not in TEXTS, t.kind in CODE, -bits_of[t], t))
        for trace in order:
            others = len(self.owners[trace]) - 2
            group = "many" if others >= RARE - 1 else _group(trace)
            bits = bits_of[trace]
            if trace.kind in TEXTS:
                bits = self._bits_of_text(trace, told)
            if trace.kind in CODE or group in places:
                bits *= (before[group] < MOST_OF_CODE) / 2 ** before[group]
            before[group] += 1
            if bits:
                found.append(Shared(trace, others, bits))
        return sorted(found, key=lambda shared: (-shared.weight, shared.trace))

    def _bits(self, one: str, other: str, trace: Trace, common: Mapping[Kind, int]) -> float:
        kind, holders = trace.kind, len(self.owners[trace])
        if kind in TEXTS:
            return self._bits_of_text(trace, Told())
        if kind is Kind.CELL:
            return self.telling
        if kind is Kind.FILE:
            code = (self.code[one, name] for name in trace.text.split(", "))
            writers = [len(self.same_code[c]) for c in code if c not in self.owners]
            return min(sum(log2(self.students / count) for count in writers), self.telling)
        chance = self.chances[kind, holders]
        if kind in CHOSEN:
            for student in (one, other):
                chance *= self.rare[kind, student] - common[kind] + 1
        return max(-log2(chance), 0.0)

    def _bits_of_text(self, trace: Trace, told: "Told") -> float:
        """How surprising words are, each among others who write those before."""
        owners, bits = self.owners[trace], 0.0
        code = {self.code.get((student, trace.place)) for student in owners}
        alike = {*chain(*(self.same_code[c] for c in code if c and len(code) == 1))}
        near = told.near | alike.difference(owners)
        new = {*_words(trace)} - told.words
        for word in sorted(new, key=lambda word: (len(self.words[word]), word)):
            writers = {*self.words[word]}.difference(owners)
            share = (len(writers) + 1) / self.students
            likely = (len(writers & near) + 1) / (len(near) + 2) if near else share
            bits -= log2(max(likely, share))
            near |= writers
        told.words |= new
        told.near |= near
        followers = len(alike.union(owners))
        if len(owners) < followers <= OF_ONE_SOURCE * self.students:
            bits = min(bits, log2(followers / (len(owners) - 1)))
        return min(bits, MOST_OF_TEXT[trace.kind] * log2(self.students / (len(owners) - 1)))


@dataclass(slots=True)
class Told:
    """The words that a pair shares so far, and which others write one of them."""

    words: set[str] = field(default_factory=set)
    near: set[str] = field(default_factory=set)


def _words(trace: Trace) -> list[str]:
    return WORDS.findall(trace.text.lower())


def _group(trace: Trace) -> str:
    """What stands together: the definition, where a trace stands in one."""
    return trace.place or f"{trace.kind} {trace.where}"


def _new_first(pairs: Iterable[Pair], rarity: Rarity, least: float) -> tuple[Pair, ...]:
    """Pairs that share enough of what no pair before them shares, then the others."""
    new, others, told = [], [], set[Trace]()
    for pair in pairs:
        untold = [entry.trace for entry in pair.shared if entry.trace not in told]
        shared = rarity.shared(pair.one, pair.other, untold)
        if sum(entry.weight for entry in shared) >= least:
            new.append(pair)
            told.update(entry.trace for entry in pair.shared)
        else:
            others.append(pair)
    return (*new, *others)


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
