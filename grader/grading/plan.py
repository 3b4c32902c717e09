"""Who is to be graded again, in which assignments and why; everybody else's outcomes are kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.core.language import listed
from grader.core.text import hash_of
from grader.course.course import Course
from grader.course.outcome_parts import declared, outcome_parts
from grader.grading.kept_outcomes import Head, Kept

Conditions = Mapping[str, Mapping[str, str]]
"""By assignment, a hash of each thing that decides outcomes, by what it is in words."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what a class is graded.

    Args:
        course: with the assignments that the class's results have.
        graded: the ids of those that are graded now; of the others earlier results stay.
        conditions: what decides outcomes now.
        declared: by assignment, a hash of the weights and words of its checks.
        force: whether everything is graded again.
    """

    course: Course
    graded: tuple[str, ...]
    conditions: Conditions
    declared: Mapping[str, str]
    force: bool = False

    @property
    def but_dates(self) -> str:
        """A hash of everything that decides results but dates and the rule for late work."""
        points = {id_: exercise.points for id_, exercise in self.course.exercises.items()}
        decides = repr((self.graded, self.conditions, self.declared, points))
        return hash_of(decides)[:16]


def terms_of(
    course: Course, covered: tuple[str, ...], graded: tuple[str, ...], run: Mapping[str, str]
) -> Terms:
    """The terms of a run.

    Args:
        course: the whole course.
        covered: the assignments that the class's results have.
        graded: those that are graded now.
        run: what decides outcomes besides the course, by what it is in words.
    """
    parts = outcome_parts(course)
    conditions = {id_: {**parts[id_], **run} for id_ in covered}
    words = {id_: declared(course, course.by_id[id_]) for id_ in covered}
    return Terms(course.only(covered), graded, conditions, words)


@dataclass(slots=True)
class Plan:
    """What is to be done for a class.

    Args:
        changed: how many students are graded again in an assignment because of what; whoever handed in
            nothing is not counted.
        fresh: how many handed in something new, or were not graded before.
        known: how many are scored from outcomes that are known.
        outdated: what changed in assignments that are not graded now.
    """

    terms: Terms
    changed: Counter[tuple[tuple[str, ...], str]] = field(default_factory=Counter)
    fresh: int = 0
    known: int = 0
    outdated: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, kept: Kept, handed_in: str) -> tuple[str, ...]:
        """Plan one student; the assignments to grade, none where the outcomes are known.

        Args:
            kept: the student's outcomes so far.
            handed_in: a fingerprint of what was handed in.
        """
        chosen = {id_: self._known(kept, id_, handed_in) for id_ in self.terms.conditions}
        todo = [id_ for id_, number in chosen.items() if number is None]
        heads = [kept.heads[number] for number in chosen.values() if number is not None]
        if todo or any(head.has_record for head in heads):
            # Where something was handed in for one assignment, the others have outcomes, too.
            todo += [head.assignment for head in heads if not head.has_record]
        self._count(kept, handed_in, todo)
        return tuple(id_ for id_ in self.terms.conditions if id_ in todo)

    def _known(self, kept: Kept, id_: str, handed_in: str) -> int | None:
        """The outcomes that stay as they are, or that an earlier state had."""
        latest, conditions = kept.latest(id_), self.terms.conditions[id_]
        if latest is None or id_ in self.terms.graded:
            return None if self.terms.force else kept.find(id_, handed_in, conditions)
        if changed := _changes(kept.heads[latest], conditions):
            self.outdated[id_] = changed
        return latest

    def _count(self, kept: Kept, handed_in: str, todo: list[str]) -> None:
        is_fresh = False
        for id_ in todo:
            latest = kept.latest(id_)
            head = None if latest is None else kept.heads[latest]
            if head is None or head.handed_in != handed_in:
                is_fresh = True
            elif handed_in and (changed := _changes(head, self.terms.conditions[id_])):
                self.changed[changed, id_] += 1
        self.known += not todo
        self.fresh += is_fresh

    def sentences(self) -> list[str]:
        """What is graded again and why, for people; nothing of a first run."""
        groups: dict[tuple[tuple[str, ...], int], list[str]] = {}
        for (what, id_), count in self.changed.items():
            groups.setdefault((what, count), []).append(id_)
        everything = len(self.terms.conditions)
        lines = [
            f"{'Everything' if len(ids) == everything else listed(ids)}: "
            f"{' and '.join(what)} changed; {_students(count)} graded again."
            for (what, count), ids in groups.items()
        ]
        lines += [
            f"{id_} is not graded now: its results are from before a change ({' and '.join(what)})."
            for id_, what in self.outdated.items()
        ]
        if self.changed and self.fresh:
            lines.append(f"{_students(self.fresh)} graded who handed in something new.")
        if self.known:
            lines.append(f"{_students(self.known)} scored from known outcomes: no code is run.")
        if self.changed and len({id_ for _what, id_ in self.changed}) < everything:
            lines.append("Everything else is kept.")
        return lines


def _changes(head: Head, conditions: Mapping[str, str]) -> tuple[str, ...]:
    """What differs from the conditions that outcomes were found under."""
    names = dict.fromkeys((*conditions, *head.conditions))
    return tuple(n for n in names if conditions.get(n) != head.conditions.get(n))


def _students(count: int) -> str:
    return "1 student is" if count == 1 else f"{count} students are"
