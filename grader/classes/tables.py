"""The class's own files: `scores.csv`, a row for each student, and `summary.json`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from grader.classes.records import SUMMARY
from grader.classes.rows import (
    ALL_NOW,
    EXEMPT,
    UNDECIDED,
    ClassResult,
    Coverage,
    Row,
    Summary,
    due_summary,
    summary,
)
from grader.core.files import table, write_whole
from grader.course.course import Course
from grader.intake.roster import Enrolled


def write_class(result: ClassResult, out: Path, roster: Mapping[str, Enrolled]) -> None:
    """Write `scores.csv` and `summary.json`.

    Args:
        result: the rows, and which of them are of this run.
        out: the folder of the run.
        roster: what is known of students besides, by name.
    """
    rows, covers, now = result.rows, result.covers, datetime.now(UTC)
    due = result.course.due_at(now)
    write_whole(out / "scores.csv", scores_csv(result.course, rows, covers, roster, due))
    content: Summary = {**summary(rows, covers, now), "changed": result.changed}
    if due.assignments != result.course.assignments:
        content["due"] = due_summary(rows, due)
    write_whole(out / SUMMARY, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


KNOWN = ("name", "email", "section", "login", "number", "tutor")
"""What a roster may know of a student; each is a column where it knows it of anybody."""


def scores_csv(
    course: Course,
    rows: Iterable[Row],
    covers: Coverage = ALL_NOW,
    roster: Mapping[str, Enrolled] = {},
    due: Course | None = None,
) -> str:
    """One row per student: blank where nothing was handed in, `undecided` where the grader failed.

    A column per exercise, and one per assignment after its own, `exempt` where it does not count;
    with `off`, what lateness took off, the exercises add up to the score. Where something was
    decided about anybody, `automatic` is the score without that, and `decided` says what it was.
    `attempts` says which attempt counts, of how many, and `handed_in` when that was and where it is
    known from, where any of that is known. The last column says whether the row is of this run
    ("now") or of an earlier one.

    Args:
        course: whose exercises are the columns.
        rows: a row for each student who has a result, in order.
        covers: which of the rows are of this run, and who is missing.
        roster: what is known of students besides, by name.
        due: the course with what was due so far; it has columns where that is not everything.
    """

    def cell(row: Row, score: int | float | None) -> object:
        return score if score is not None else UNDECIDED if row.undecided else ""

    def part(row: Row, scores: Mapping[str, int | float | None], id_: str) -> object:
        if id_ in row.exempt:
            return EXEMPT
        if scores.get(id_) is not None:
            return scores[id_]
        return UNDECIDED if not {id_, id_.partition("/")[0]}.isdisjoint(row.open_) else ""

    def due_cell(row: Row, one: Course) -> object:
        score, is_open = row.of(one), not one.by_id.keys().isdisjoint(row.open_)
        return score if score is not None else UNDECIDED if is_open else ""

    known = [name for name in KNOWN if any(getattr(one, name) for one in roster.values())]
    partly = [] if due is None or due.assignments == course.assignments else [due]
    rows = [*rows]
    has_decisions = any(row.decided for row in rows)
    has_attempts, has_sources = any(row.attempts for row in rows), any(r.time_sources for r in rows)
    ids = [id_ for a in course.assignments for id_ in (*(e.id for e in a.exercises), a.id)]
    lines: list[Sequence[object]] = [
        ["student", "score", "max_score", *ids, "days_late", "off"]
        + ["due_score", "due_max_score"] * len(partly)
        + ["automatic", "decided"] * has_decisions
        + ["attempts"] * has_attempts
        + ["handed_in"] * has_sources
        + [*known, "graded"]
    ]
    for row in rows:
        scores = {**row.exercises, **row.assignments}
        enrolled = roster.get(row.student, Enrolled(row.student))
        lines.append(
            [
                *(row.student, cell(row, row.score), row.max_score),
                *(part(row, scores, id_) for id_ in ids),
                *(row.days_late, cell(row, row.off)),
                *(e for one in partly for e in (due_cell(row, one), row.most(one))),
                *_decided(row) * has_decisions,
                *("; ".join(f"{id_} {said}" for id_, said in row.attempts.items()),) * has_attempts,
                *(_handed_in(row),) * has_sources,
                *(getattr(enrolled, name) for name in known),
                "earlier" if row.student in covers.earlier else "now",
            ]
        )
    return table(lines)


def _decided(row: Row) -> tuple[object, ...]:
    """The score without decisions, and what they were about; blank where there are none."""
    if not row.decided:
        return "", ""
    return "" if row.automatic is None else row.automatic, "; ".join(row.decided)


def _handed_in(row: Row) -> str:
    """When each assignment was handed in, and by what that is known."""
    return "; ".join(
        f"{id_} {row.submitted_at[id_]} by {source}" for id_, source in row.time_sources.items()
    )
