"""Two runs of a class as a table: how each check's share and separation moved. Pure."""

from collections.abc import Iterator, Sequence

from grader.classes.same_work import ended_otherwise, is_same_work
from grader.core.files import table
from grader.core.records import Result
from grader.reports.check_figures import CheckFigures, checks_of, decided, number, taken

STABILITY = (
    *("assignment", "exercise", "check", "visibility", "students"),
    *("passed_before", "passed_after", "passed_moved"),
    *("separation_before", "separation_after", "separation_moved"),
    *("same_work", "ended_otherwise", "who"),
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
    earlier = {figures.check.id: figures for _, figures in _figures(before)}
    rows = (
        _row(assignment, earlier[figures.check.id], figures, same)
        for assignment, figures in _figures(after)
        if figures.check.id in earlier
    )
    return table([STABILITY, *rows])


def _figures(results: Sequence[Result]) -> Iterator[tuple[str, CheckFigures]]:
    """Every check, with the id of its assignment."""
    scored = decided(results)
    exercises = dict.fromkeys(
        (p.id, e.id) for r in results for p in r.assignments for e in p.exercises
    )
    for assignment, exercise in exercises:
        for figures in checks_of(taken(scored, assignment), exercise):
            yield assignment, figures


def _row(
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
