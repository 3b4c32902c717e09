"""Tables on a terminal: a class, and the course as its author sees it."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from grader.classes.rows import Row
from grader.core.language import _
from grader.core.text import clean
from grader.course.course import Course

if TYPE_CHECKING:
    from grader.authoring.check_proofs import Report
    from grader.authoring.check_proofs import Row as ValidationRow
    from grader.extras.mutants.trials import Tried

MOST_GAPS = 3
"""Of more assignments that nobody handed in a terminal shows the first."""

MOST_DEFECTS = 10
"""Of more sentences on what nbgrader would stumble over a terminal shows the first."""


def class_table(rows: Sequence[Row], max_score: float, due: Course | None = None) -> Table:
    """The class as a table: a row per student, undecided and missing different from zero.

    Args:
        rows: of the class, in order.
        max_score: the points of everything.
        due: the course with what was due so far; a column shows its points.
    """
    table = Table(title=None, header_style="bold")
    table.add_column(_("student"), overflow="fold")
    table.add_column(_("score"), justify="right")
    table.add_column(_("of {max_score}").format(max_score=max_score), justify="right")
    if due is not None:
        table.add_column(_("due, of {max_score}").format(max_score=due.max_score), justify="right")
    table.add_column(_("what happened"), overflow="fold")
    for row in rows:
        score, share = _shown_score(row)
        so_far = () if due is None else (_due_score(row, due),)
        table.add_row(
            escape(clean(row.student).replace("\n", "\\x0a")),
            score,
            share,
            *so_far,
            escape(row.summary_line),
        )
    return table


def _due_score(row: Row, due: Course) -> str:
    score = row.of(due)
    return "–" if score is None else str(score)


def class_summary(rows: Sequence[Row], max_score: float, due: Course | None = None) -> str:
    """A large class in a few lines.

    Args:
        rows: of the class.
        max_score: the points of everything.
        due: the course with what was due so far, where that is less.
    """
    scores = sorted(row.score for row in rows if row.score is not None)
    missing = sum(not (row.submitted or row.is_exempt) for row in rows)
    undecided = sum(row.undecided for row in rows)
    exempt = len(rows) - len(scores) - missing - undecided
    head = f"{len(rows)} students: {len(scores)} with a score, {missing} handed in nothing"
    head += f", {undecided} undecided" if undecided else ""
    head += f", for {exempt} nothing counts" if exempt else ""
    lines = [f"{head}."]
    if scores:
        quarter, half, three = (scores[len(scores) * n // 4] for n in (1, 2, 3))
        lines.append(
            f"Of {max_score} points, a quarter has at most {quarter}, half at most {half}, "
            f"three quarters at most {three}."
        )
    known = sorted(score for row in rows if due and (score := row.of(due)) is not None)
    if due is not None and due.max_score and known:
        half = known[len(known) // 2]
        lines.append(f"Of the {due.max_score} points that were due, half has at most {half}.")
    return "\n".join([*lines, "Everybody's score is in scores.csv."])


def gaps_line(course: Course, rows: Sequence[Row]) -> str:
    """For how many nothing was handed in of each assignment; "" where that is none."""
    counts = {
        id_: sum(row.assignments.get(id_) is None for row in rows if _is_open(row, id_))
        for id_ in course.by_id
    }
    most = {id_: sum(id_ not in row.exempt for row in rows) for id_ in counts}
    some = [f"{count} in {id_}" for id_, count in counts.items() if 0 < count < most[id_]]
    nobody = [id_ for id_, count in counts.items() if count and count == most[id_]]
    more = f" and {len(nobody) - MOST_GAPS} more" if len(nobody) > MOST_GAPS else ""
    if nobody:
        some.append(f"everybody in {', '.join(nobody[:MOST_GAPS])}{more}")
    return f"Handed in nothing: {'; '.join(some)}." if some else ""


def _is_open(row: Row, id_: str) -> bool:
    """Whether an assignment counts for a student, and is not undecided."""
    return id_ not in row.exempt and id_ not in row.open_


def defect_lines(rows: Sequence[Row], out: Path) -> list[str]:
    """What nbgrader would stumble over: the first few, and where the others stand."""
    told = [f"{row.student}: {defect}" for row in rows for defect in row.defects]
    left = len(told) - MOST_DEFECTS
    if left <= 0:
        return told
    return [*told[:MOST_DEFECTS], f"{left} more like these: `notes` in {out / 'results'} has them."]


def _shown_score(row: Row) -> tuple[str, str]:
    if row.undecided:
        return _("undecided"), ""
    if row.score is None:
        return "–", ""
    share = row.score / row.max_score if row.max_score else 0
    return f"{row.score}", f"{share:.0%}"


def validation_table(report: "Report") -> Table:
    """The course as its author sees it: a row per exercise, in sections per assignment."""
    table = Table(header_style="bold", box=SIMPLE)
    table.add_column("exercise", no_wrap=True)
    for name in ("points", "visible", "hidden", "known", "named", "visibly", "apart"):
        table.add_column(name, justify="right", no_wrap=True)
    for assignment, group in groupby(report.rows, lambda row: row.exercise.assignment):
        rows = list(group)
        table.add_row(f"[bold]{assignment}[/]", *_numbers(rows))
        for row in rows:
            table.add_row(f"  {row.exercise.name}", *_numbers([row]))
        table.add_section()
    table.add_row("[bold]the course[/]", *_numbers(report.rows))
    table.caption = (
        "visible, hidden: checks. known: misconceptions; named: recognised by all checks; "
        "visibly: by the visible ones alone. apart: the smallest separation."
    )
    return table


def unearned_table(report: "Report") -> Table:
    """What code earns of each exercise that computes nothing right."""
    table = Table(header_style="bold", box=SIMPLE, title="What knowing nothing earns")
    table.add_column("exercise", no_wrap=True)
    table.add_column("at most", justify="right")
    table.add_column("by returning")
    table.add_column("by heart", justify="right")
    table.add_column("why it can be guessed")
    for row in report.rows:
        free = row.free_points
        most, memorised = f"{free.most:.0%}", f"{free.memorised:.0%}"
        table.add_row(row.exercise.name, most, free.best, memorised, free.guessable)
    table.caption = "By heart: right on visible inputs, and zeros elsewhere."
    return table


def kept_table(report: "Report") -> Table:
    """What each known mistake leaves of its exercise's points, the most first."""
    table = Table(header_style="bold", box=SIMPLE, title="What known mistakes leave of the points")
    for name in ("exercise", "known mistake", "kind"):
        table.add_column(name, no_wrap=True)
    table.add_column("left", justify="right")
    table.add_column("")
    for row in report.rows:
        for left in sorted(row.kept, key=lambda left: -left.share):
            why = "" if left.is_judged else "no value was judged"
            share = f"{left.share:.0%}"
            table.add_row(row.exercise.name, left.mistake.id, left.mistake.kind, share, why)
    return table


def _numbers(rows: "list[ValidationRow]") -> list[str]:
    """The columns of one or more exercises."""
    names = ("visible", "hidden", "misconceptions", "recognised", "recognised_visibly")
    counts = [(r.exercise.points, *(getattr(r, name) for name in names)) for r in rows]
    smallest = min((row.separation for row in rows), default=float("inf"))
    apart = "-" if smallest == float("inf") else f"{smallest:.2g}"
    return [*(str(sum(column)) for column in zip(*counts, strict=True)), apart]


def mutation_table(all_tried: "Sequence[Tried]") -> Table:
    """What came of mutants: a row per assignment."""
    table = Table(header_style="bold", box=SIMPLE)
    table.add_column("assignment", no_wrap=True)
    columns = ("caught", "named", "remarked", "equivalent", "survived", "broken")
    for name in ("mutants", "caught", "named", "remark", "equal", "survive", "break", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    groups = [(name, [*own]) for name, own in groupby(all_tried, lambda t: t.exercise.assignment)]
    for name, group in (*groups, ("the course", all_tried)):
        counts = [sum(tried.counts[column] for tried in group) for column in columns]
        mutants, seconds = (sum(len(t.trials) for t in group), sum(t.seconds for t in group))
        table.add_row(name, *map(str, (mutants, *counts)), f"{seconds:.0f}")
    table.caption = (
        "named: of those caught, by a known mistake. remark: only a remark says it. "
        "equal: as the solution, or written down as that. break: a check by itself fails. s: seconds."
    )
    return table
