"""Item analysis of a class: every check, exercise and mistake in numbers, as tables.

`items.csv` has a row per exercise and per check, `reliability.csv` one per assignment and for the
course, `mistakes.csv` one per known mistake. Where the roster has sections, tutors or labels,
`sections.csv` has a row per check and group. Only students with a decided score count.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, pvariance

from grader.core.files import OutputFile, table
from grader.core.records import Result
from grader.course.course import Course
from grader.reports.base import GradedClass
from grader.reports.check_figures import (
    Taken,
    checks_of,
    correlated,
    decided,
    number,
    points_in,
    rest_share,
    taken,
)
from grader.reports.sections import SECTIONS, section_rows

FIFTHS = 5
ITEMS = (
    *("assignment", "exercise", "check", "visibility", "weight", "students", "passed"),
    *(f"fifth_{number}" for number in range(1, FIFTHS + 1)),
    *("separation", "effective_weight", "nominal_weight"),
)
RELIABILITY = ("assignment", "exercises", "students", "mean", "deviation")
MISTAKES = ("exercise", "mistake", "kind", "students", "share", "rest_with", "rest_without")


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """The tables."""
    results = decided(run.results)
    found = {id_: taken(results, id_) for id_ in run.course.by_id}
    yield OutputFile("items.csv", table([ITEMS, *_items(run.course, found)]))
    yield OutputFile("reliability.csv", table([RELIABILITY, *_reliability(run.course, results)]))
    yield OutputFile("mistakes.csv", table([MISTAKES, *_mistakes(found.values())]))
    figures = (
        (id_, check)
        for id_, parts in found.items()
        for exercise in run.course.by_id[id_].exercises
        for check in checks_of(parts, exercise.id)
    )
    if rows := [*section_rows(figures, run.roster)]:
        yield OutputFile("sections.csv", table([SECTIONS, *rows]))


def _items(course: Course, found: dict[str, Taken]) -> Iterator[Sequence[object]]:
    for id_, parts in found.items():
        for exercise in course.by_id[id_].exercises:
            having = [
                (points_in([e]), total, rest_share(part, e.id))
                for _, part, total in parts
                for e in part.exercises
                if e.id == exercise.id
            ]
            scores, totals, rest = ([one[n] for one in having] for n in range(3))
            shares = [score / exercise.points if exercise.points else 0.0 for score in scores]
            nominal = exercise.points / (course.by_id[id_].max_score or 1)
            yield (
                *(id_, exercise.name, "", "", exercise.points, len(scores), *_fifths(shares)),
                *(number(correlated(shares, rest)), number(effective_weight(scores, totals))),
                number(nominal),
            )
            for one in checks_of(parts, exercise.id):
                passed = [*one.passed.values()]
                yield (
                    *(id_, exercise.name, one.name, one.check.visibility, one.check.weight),
                    *(len(passed), *_fifths(passed), number(one.separation), "", ""),
                )


def _fifths(shares: Sequence[float]) -> tuple[str, ...]:
    """The mean share, and that of each fifth of the students, the weakest first."""
    parts = [
        shares[len(shares) * n // FIFTHS : len(shares) * (n + 1) // FIFTHS] for n in range(FIFTHS)
    ]
    return tuple(number(fmean(part) if part else None) for part in (shares, *parts))


def effective_weight(scores: Sequence[float], totals: Sequence[float]) -> float | None:
    """An item's share of the variance of the total; None where all totals are the same.

    Args:
        scores: each student's points in the item.
        totals: and in everything.
    """
    if len(totals) < 2 or not pvariance(totals):
        return None
    means = fmean(scores), fmean(totals)
    pairs = zip(scores, totals, strict=True)
    shared = fmean((s - means[0]) * (t - means[1]) for s, t in pairs)
    return shared / float(pvariance(totals))


def _reliability(course: Course, results: Sequence[Result]) -> Iterator[Sequence[object]]:
    """A row for each assignment and for the course, of those who have a score in all of it.

    Of the course only what anybody handed in is looked at.
    """
    known = [
        {e.id: float(e.score) for e in r.exercises if e.counts and e.score is not None}
        for r in results
    ]
    begun = [
        a for a in course.assignments if any(e.id in one for e in a.exercises for one in known)
    ]
    for assignment in (*course.assignments, None):
        among = begun if assignment is None else [assignment]
        ids = [e.id for one in among for e in one.exercises]
        scores = [one for one in known if ids and one.keys() >= {*ids}]
        totals = [sum(one[id_] for id_ in ids) for one in scores]
        yield (
            *(assignment.id if assignment else "the course", len(ids), len(scores)),
            number(fmean(totals) if totals else None),
            number(pvariance(totals) ** 0.5 if totals else None),
        )


def _mistakes(assignments: Iterable[Taken]) -> Iterator[Sequence[object]]:
    """Each known mistake, with the mean share of the rest that those with and without it have."""
    for parts in assignments:
        found = {
            (exercise.id, finding.candidates[0].id): finding.candidates[0].kind
            for _, part, _ in parts
            for exercise in part.exercises
            for finding in exercise.findings
            if len(finding.candidates) == 1
        }
        for (id_, mistake), kind in sorted(found.items()):
            rest: dict[bool, list[float]] = {True: [], False: []}
            who = {
                student
                for student, part, _ in parts
                if any(e.id == id_ and mistake in e.misconceptions for e in part.exercises)
            }
            for student, part, _ in parts:
                if any(e.max_score for e in part.exercises if e.id != id_):
                    rest[student in who].append(rest_share(part, id_))
            means = [number(fmean(rest[has]) if rest[has] else None) for has in (True, False)]
            yield id_, mistake, kind, len(who), number(len(who) / len(parts)), *means
