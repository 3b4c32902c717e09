"""Item analysis: how each check and exercise went in a class, in sections of it and in two runs, as tables.

`items.csv` has a row per exercise and per check, `reliability.csv` one per assignment and for the
course, `mistakes.csv` one per known mistake. Where the roster has sections, tutors or labels,
`sections.csv` has a row per check and group. Only students with a decided score count.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance

from msgspec.structs import replace

from grader.classes.compare import ended_otherwise, is_same_work
from grader.core.files import OutputFile, table
from grader.core.records import AssignmentResult, CheckResult, Outcome, Result
from grader.course.course import Course
from grader.intake.roster import Enrolled
from grader.reports.base import GradedClass
from grader.reports.insights import correlated, points_in, rest_share

FIFTHS = 5
ITEMS = (
    *("assignment", "exercise", "check", "visibility", "weight", "students", "passed"),
    *(f"fifth_{number}" for number in range(1, FIFTHS + 1)),
    *("separation", "effective_weight", "nominal_weight"),
)
RELIABILITY = ("assignment", "exercises", "students", "mean", "deviation")
MISTAKES = ("exercise", "mistake", "kind", "students", "share", "rest_with", "rest_without")
SECTIONS = (
    *("assignment", "exercise", "check", "visibility", "column", "group"),
    *("students", "passed", "others", "others_passed", "difference"),
)
LEAST = 5
"""Groups of fewer students are not shown: one student would move the share by more than a fifth."""
STABILITY = (
    *("assignment", "exercise", "check", "visibility", "students"),
    *("passed_before", "passed_after", "passed_moved"),
    *("separation_before", "separation_after", "separation_moved"),
    *("same_work", "ended_otherwise", "who"),
)

Taken = list[tuple[str, AssignmentResult, float]]
"""Students with their results in one assignment and the points of it."""


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """How a check ended for those who have it, the weakest in the assignment first.

    Args:
        check: as the first of them has it.
        exercise: the name of its exercise.
        passed: 1 or 0 for each student, by name.
        rest: their share of the points in the rest of the assignment, by name.
    """

    check: CheckResult
    exercise: str
    passed: dict[str, float] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the check is called in its file."""
        return self.check.id.rpartition("::")[2]

    @property
    def share(self) -> float | None:
        """Of those who have it, how many pass."""
        return fmean(self.passed.values()) if self.passed else None

    @property
    def separation(self) -> float | None:
        """How passing goes with the rest of the assignment."""
        return correlated([*self.passed.values()], [*self.rest.values()])

    def among(self, students: Collection[str]) -> "CheckFigures":
        """The same for some of the students."""
        kept = [{s: one[s] for s in one if s in students} for one in (self.passed, self.rest)]
        return CheckFigures(self.check, self.exercise, *kept)


def decided(results: Iterable[Result]) -> list[Result]:
    """Those who handed something in and have a score."""
    return [r for r in results if r.submitted and not r.undecided and r.score is not None]


def taken(results: Iterable[Result], assignment: str) -> Taken:
    """Who handed in an assignment, from the fewest points to the most.

    Of each only the exercises that count for the student.
    """
    parts = [
        (r.student, replace(p, exercises=p.counting), points_in(p.counting))
        for r in results
        for p in r.assignments
        if p.id == assignment and p.read_from and p.counts
    ]
    return sorted(parts, key=lambda one: one[2])


def checks_of(parts: Taken, exercise: str) -> Iterator[CheckFigures]:
    """The figures of an exercise's checks, in their order.

    Args:
        parts: who handed in the assignment.
        exercise: the id of the exercise.
    """
    found: dict[str, CheckFigures] = {}
    for student, part, _total in parts:
        for one in (e for e in part.exercises if e.id == exercise):
            for check in one.checks:
                figures = found.setdefault(check.id, CheckFigures(check, one.name))
                figures.passed[student] = float(check.outcome is Outcome.PASSED)
                figures.rest[student] = rest_share(part, exercise)
    return iter(found.values())


def number(value: float | None) -> str:
    """A figure in a table; blank where there is none."""
    return "" if value is None else f"{value:.3f}"


def grade(run: GradedClass) -> Iterator[OutputFile]:
    """The tables."""
    results = decided(run.results)
    found = {id_: taken(results, id_) for id_ in run.course.by_id}
    yield OutputFile("items.csv", table([ITEMS, *_items(run.course, found)]))
    yield OutputFile("reliability.csv", table([RELIABILITY, *_reliability(run.course, results)]))
    yield OutputFile("mistakes.csv", table([MISTAKES, *_mistakes(found.values())]))
    columns = _columns(run.roster)
    rows = (
        row
        for id_, parts in found.items()
        for exercise in run.course.by_id[id_].exercises
        for check in checks_of(parts, exercise.id)
        for column, groups in columns.items()
        for row in _rows(id_, check, column, groups)
    )
    if sections := [*rows]:
        yield OutputFile("sections.csv", table([SECTIONS, *sections]))


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


def stability_table(before: Sequence[Result], after: Sequence[Result]) -> str:
    """A row for each check of both runs, about the students who have it in both.

    `same_work` counts those whose code is the same, `ended_otherwise` those of them for whom the
    check did not end as before; `who` names these.

    Args:
        before: the results of the earlier run.
        after: those of the later one.
    """
    old = {one.student: one for one in before}
    same = {
        one.student: {*ended_otherwise(old[one.student], one)}
        for one in after
        if one.student in old and is_same_work(old[one.student], one)
    }
    earlier = {figures.check.id: figures for _, figures in _all_figures(before)}
    rows = (
        _moved_row(assignment, earlier[figures.check.id], figures, same)
        for assignment, figures in _all_figures(after)
        if figures.check.id in earlier
    )
    return table([STABILITY, *rows])


def _all_figures(results: Sequence[Result]) -> Iterator[tuple[str, CheckFigures]]:
    """Every check, with the id of its assignment."""
    scored = decided(results)
    exercises = dict.fromkeys(
        (p.id, e.id) for r in results for p in r.assignments for e in p.exercises
    )
    for assignment, exercise in exercises:
        for figures in checks_of(taken(scored, assignment), exercise):
            yield assignment, figures


def _moved_row(
    assignment: str, before: CheckFigures, after: CheckFigures, same: dict[str, set[str]]
) -> Sequence[object]:
    """A check's row.

    Args:
        assignment: the id of its assignment.
        before: its figures in the earlier run.
        after: those in the later one.
        same: whose work is the same, with the checks that ended otherwise.
    """
    both = before.passed.keys() & after.passed.keys()
    before, after = before.among(both), after.among(both)
    who = sorted(name for name in both if after.check.id in same.get(name, ()))
    return (
        *(assignment, after.exercise, after.name, after.check.visibility, len(both)),
        *_moved(before.share, after.share),
        *_moved(before.separation, after.separation),
        *(sum(name in same for name in both), len(who), " ".join(who)),
    )


def _moved(before: float | None, after: float | None) -> tuple[str, str, str]:
    """Two figures and their difference; blank where one is not known."""
    moved = "" if before is None or after is None else f"{after - before:+.3f}"
    return number(before), number(after), moved
