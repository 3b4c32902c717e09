"""Sections and tutors side by side: who passes a check more seldom than the rest. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from grader.intake.roster import Enrolled
from grader.reports.check_figures import CheckFigures, number

SECTIONS = (
    *("assignment", "exercise", "check", "visibility", "column", "group"),
    *("students", "passed", "others", "others_passed", "difference"),
)
LEAST = 5
"""Groups of fewer students are not shown: one student would move the share by more than a fifth."""


def section_rows(
    figures: Iterable[tuple[str, CheckFigures]], roster: Mapping[str, Enrolled]
) -> Iterator[Sequence[object]]:
    """A row for each check and each section, tutor and label with enough students.

    Args:
        figures: each check, with the id of its assignment.
        roster: who is enrolled.
    """
    columns = _columns(roster)
    return (
        row
        for assignment, check in figures
        for column, groups in columns.items()
        for row in _rows(assignment, check, column, groups)
    )


def _columns(roster: Mapping[str, Enrolled]) -> dict[str, dict[str, set[str]]]:
    """The students of each group, by the roster's column and what stands in it."""
    found: dict[str, dict[str, set[str]]] = {}
    for student, one in roster.items():
        words = (("section", one.section), ("tutor", one.tutor), *(("label", t) for t in one.tags))
        for column, word in words:
            if word:
                found.setdefault(column, {}).setdefault(word, set()).add(student)
    return found


def _rows(
    assignment: str, figures: CheckFigures, column: str, groups: Mapping[str, set[str]]
) -> Iterator[Sequence[object]]:
    """Each large enough group of a column beside the rest of it, in one check."""
    check, passed = figures.check, figures.passed
    # Whoever has no label is one of the others; whoever is in no section is not known of.
    everybody = {*passed} if column == "label" else {*passed} & set().union(*groups.values())
    for group, students in sorted(groups.items()):
        inside = [passed[name] for name in everybody & students]
        others = [passed[name] for name in everybody - students]
        if min(len(inside), len(others)) >= LEAST:
            here, there = fmean(inside), fmean(others)
            yield (
                *(assignment, figures.exercise, figures.name, check.visibility, column, group),
                *(len(inside), number(here), len(others), number(there), f"{here - there:+.3f}"),
            )
