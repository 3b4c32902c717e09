"""Item analysis of a class: every check, exercise and mistake in numbers, as tables.

`items.csv` has a row per exercise and per check, `reliability.csv` one per assignment and for the
course, `mistakes.csv` one per known mistake. Only students with a decided score count.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from math import fsum
from statistics import StatisticsError, correlation, fmean, pvariance

from grader.core.files import OutputFile, table
from grader.core.records import AssignmentResult, ExerciseResult, Outcome, Result
from grader.course.course import Course
from grader.reports.base import GradedClass

FIFTHS = 5
ITEMS = (
    *("assignment", "exercise", "check", "visibility", "weight", "students", "passed"),
    *(f"fifth_{number}" for number in range(1, FIFTHS + 1)),
    *("separation", "effective_weight", "nominal_weight"),
)
RELIABILITY = ("assignment", "exercises", "students", "mean", "deviation", "alpha")
MISTAKES = ("exercise", "mistake", "kind", "students", "share", "rest_with", "rest_without")

Taken = list[tuple[AssignmentResult, float]]
"""Results in one assignment, each with its points."""


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """The three tables."""
    decided = [r for r in run.results if r.submitted and not r.undecided and r.score is not None]
    taken = {id_: _taken(decided, id_) for id_ in run.course.by_id}
    yield OutputFile("items.csv", table([ITEMS, *_items(run.course, taken)]))
    yield OutputFile("reliability.csv", table([RELIABILITY, *_reliability(run.course, decided)]))
    yield OutputFile("mistakes.csv", table([MISTAKES, *_mistakes(taken.values())]))


def _taken(results: Iterable[Result], assignment: str) -> Taken:
    """Who handed in an assignment, from the fewest points to the most."""
    parts = [p for r in results for p in r.assignments if p.id == assignment and p.read_from]
    return sorted(((part, _points(part.exercises)) for part in parts), key=lambda pair: pair[1])


def _points(exercises: Iterable[ExerciseResult]) -> float:
    return sum(float(exercise.score or 0) for exercise in exercises)


def _items(course: Course, taken: dict[str, Taken]) -> Iterator[Sequence[object]]:
    for id_, parts in taken.items():
        totals = [points for _, points in parts]
        for exercise in course.by_id[id_].exercises:
            found = [next(e for e in p.exercises if e.id == exercise.id) for p, _ in parts]
            scores = [_points([one]) for one in found]
            shares = [score / exercise.points if exercise.points else 0.0 for score in scores]
            rest = [total - score for total, score in zip(totals, scores, strict=True)]
            nominal = exercise.points / (course.by_id[id_].max_score or 1)
            yield (
                *(id_, exercise.name, "", "", exercise.points, len(found), *_fifths(shares)),
                *(_number(_correlation(shares, rest)), _number(effective_weight(scores, totals))),
                _number(nominal),
            )
            for number, first in enumerate(found[0].checks if found else ()):
                passed = [
                    float(one.checks[number].outcome in (Outcome.PASSED, Outcome.REMARK))
                    for one in found
                    if number < len(one.checks)
                ]
                separation = _correlation(passed, rest) if len(passed) == len(rest) else None
                yield (
                    *(id_, exercise.name, first.id.rpartition("::")[2], first.visibility),
                    *(first.weight, len(passed), *_fifths(passed)),
                    *(_number(separation), "", ""),
                )


def _fifths(shares: Sequence[float]) -> tuple[str, ...]:
    """The mean share, and that of each fifth of the students, the weakest first."""
    parts = [
        shares[len(shares) * n // FIFTHS : len(shares) * (n + 1) // FIFTHS] for n in range(FIFTHS)
    ]
    return tuple(_number(fmean(part) if part else None) for part in (shares, *parts))


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


def cronbachs_alpha(items: Sequence[Sequence[float]]) -> float | None:
    """How far items measure one thing; None for fewer than two, or where all totals are the same.

    Args:
        items: the points in each item, of each student in the same order.
    """
    if len(items) < 2 or len(items[0]) < 2:
        return None
    spread = float(pvariance([fsum(student) for student in zip(*items, strict=True)]))
    if not spread:
        return None
    own = fsum(pvariance(item) for item in items)
    return len(items) / (len(items) - 1) * (1 - own / spread)


def _reliability(course: Course, results: Sequence[Result]) -> Iterator[Sequence[object]]:
    for assignment in (*course.assignments, None):
        ids = [e.id for a in course.assignments if assignment in (a, None) for e in a.exercises]
        scores = [
            {e.id: float(e.score or 0) for e in result.exercises}
            for result in results
            if assignment is None
            or any(p.id == assignment.id and p.read_from for p in result.assignments)
        ]
        items = [[one.get(id_, 0.0) for one in scores] for id_ in ids]
        totals = [sum(one.get(id_, 0.0) for id_ in ids) for one in scores]
        yield (
            *(assignment.id if assignment else "the course", len(ids), len(scores)),
            _number(fmean(totals) if totals else None),
            _number(pvariance(totals) ** 0.5 if totals else None),
            _number(cronbachs_alpha(items)),
        )


def _mistakes(taken: Iterable[Taken]) -> Iterator[Sequence[object]]:
    """Each known mistake, with the mean share of the rest that those with and without it have."""
    for parts in taken:
        found = {
            (exercise.id, finding.candidates[0].id): finding.candidates[0].kind
            for part, _ in parts
            for exercise in part.exercises
            for finding in exercise.findings
            if len(finding.candidates) == 1
        }
        for (id_, mistake), kind in sorted(found.items()):
            rest: dict[bool, list[float]] = {True: [], False: []}
            for part, _ in parts:
                has = any(e.id == id_ and mistake in e.misconceptions for e in part.exercises)
                others = [e for e in part.exercises if e.id != id_]
                most = sum(e.max_score for e in others)
                rest[has].append(_points(others) / most if most else 0.0)
            means = [_number(fmean(rest[has]) if rest[has] else None) for has in (True, False)]
            share = len(rest[True]) / len(parts)
            yield id_, mistake, kind, len(rest[True]), _number(share), *means


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    with suppress(StatisticsError):  # too few, or all are alike
        return correlation(one, other)
    return None


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"
