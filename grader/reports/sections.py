"""Sections and tutors side by side: who passes a check more seldom than the rest. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma
from statistics import fmean

from grader.intake.roster import Enrolled
from grader.reports.check_figures import CheckFigures, number

SECTIONS = (
    *("assignment", "exercise", "check", "visibility", "column", "group"),
    *("students", "passed", "others", "others_passed", "difference", "beyond_chance"),
)
LEAST = 5
"""Groups of fewer students are not shown: one student would move the share by more than a fifth."""
CHANCE = 0.05
"""How likely one row or more may be marked where groups differ by chance alone."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A group beside the rest of its column, in one check."""

    cells: tuple[object, ...]
    mine: Sequence[float]
    others: Sequence[float]

    def row(self, at_most: float) -> Sequence[object]:
        """A row of the table.

        Args:
            at_most: how likely a difference is at most that is marked.
        """
        here, there = fmean(self.mine), fmean(self.others)
        likely = by_chance(
            *(int(sum(self.mine)), len(self.mine), int(sum(self.others)), len(self.others))
        )
        return (
            *(*self.cells, len(self.mine), number(here), len(self.others), number(there)),
            *(f"{here - there:+.3f}", "yes" if likely < at_most else ""),
        )


def section_rows(
    figures: Iterable[tuple[str, CheckFigures]], roster: Mapping[str, Enrolled]
) -> Iterator[Sequence[object]]:
    """A row for each check and each section, tutor and label with enough students.

    A difference is marked where it is beyond chance although so many are looked at: the chance that
    is allowed is divided by the number of rows.

    Args:
        figures: each check, with the id of its assignment.
        roster: who is enrolled.
    """
    columns = _columns(roster)
    found = [
        compared
        for assignment, check in figures
        for column, groups in columns.items()
        for compared in _compared(assignment, check, column, groups)
    ]
    return (one.row(CHANCE / len(found)) for one in found)


def _columns(roster: Mapping[str, Enrolled]) -> dict[str, dict[str, set[str]]]:
    """The students of each group, by the roster's column and what stands in it."""
    found: dict[str, dict[str, set[str]]] = {}
    for student, one in roster.items():
        words = (("section", one.section), ("tutor", one.tutor), *(("label", t) for t in one.tags))
        for column, word in words:
            if word:
                found.setdefault(column, {}).setdefault(word, set()).add(student)
    return found


def _compared(
    assignment: str, figures: CheckFigures, column: str, groups: Mapping[str, set[str]]
) -> Iterator[_Compared]:
    check, passed = figures.check, figures.passed
    # Whoever has no label is one of the others; whoever is in no section is not known of.
    everybody = {*passed} if column == "label" else {*passed} & set().union(*groups.values())
    for group, students in sorted(groups.items()):
        mine = [passed[name] for name in everybody & students]
        others = [passed[name] for name in everybody - students]
        if min(len(mine), len(others)) >= LEAST:
            cells = (assignment, figures.exercise, figures.name, check.visibility, column)
            yield _Compared((*cells, group), mine, others)


def by_chance(passed: int, students: int, others_passed: int, others: int) -> float:
    """How likely chance alone makes so great a difference or a greater one (Fisher's exact test).

    Args:
        passed: who passes of a group.
        students: how many are in it.
        others_passed: who passes of the others.
        others: how many these are.
    """
    in_all, most = students + others, passed + others_passed

    def probability(count: int) -> float:
        ways = _ways(students, count) + _ways(others, most - count) - _ways(in_all, most)
        return exp(ways)

    here = probability(passed) * (1 + 1e-9)  # others that are as likely count
    possible = range(max(0, most - others), min(students, most) + 1)
    return min(1.0, sum(p for p in map(probability, possible) if p <= here))


def _ways(of: int, chosen: int) -> float:
    """The logarithm of in how many ways some can be chosen."""
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
