"""What a class run writes: a record and a copy for the student each, and the class in two files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import mean, median
from typing import Any

from grader.core.errors import UsageError
from grader.core.files import safe, table, write_whole
from grader.core.records import Result
from grader.course.course import Course
from grader.grading.results import for_student, from_json, points, to_json

SUMMARY_FORMAT = "attention-course/summary/1"
UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Row:
    """A student's result in one line: what the class's files and tables are made of.

    Args:
        student: the student's id.
        score: in points; None when undecided or nothing was handed in.
        max_score: in points.
        undecided: whether the grader itself failed.
        submitted: whether anything was handed in.
        exercises: the score of each exercise that was graded, by id.
        summary_line: what happened, in a few words.
        isolation: the layers around the student's code.
        seed: the run's.
        defects: what nbgrader would stumble over in what was handed in.
    """

    student: str
    score: int | float | None
    max_score: int
    undecided: bool
    submitted: bool
    exercises: Mapping[str, int | float | None]
    summary_line: str
    isolation: tuple[str, ...]
    seed: str
    defects: tuple[str, ...] = ()


def row_of(result: Result, summary_line: str) -> Row:
    """The row of a result."""
    return Row(
        student=result.student,
        score=points(result.score),
        max_score=result.max_score,
        undecided=result.undecided,
        submitted=result.submitted,
        exercises={e.id: points(e.score) for e in result.exercises},
        summary_line=summary_line,
        isolation=result.isolation,
        seed=result.seed,
        defects=tuple(defect for a in result.assignments for defect in a.defects),
    )


@dataclass(frozen=True, slots=True)
class Written:
    """The two files of one student as text, and the row."""

    row: Row
    record: str
    feedback: str


def written(result: Result, summary_line: str) -> Written:
    """A result as it is written down."""
    return Written(row_of(result, summary_line), _record(result), _record(for_student(result)))


def _record(result: Result) -> str:
    # On one line: to lay it out takes longer than everything else about it.
    return json.dumps(to_json(result), ensure_ascii=False) + "\n"


def record_path(out: Path, student: str) -> Path:
    """Where the instructor's record of a student stands."""
    return out / "results" / f"{student}.json"


def feedback_path(out: Path, student: str) -> Path:
    """Where the student's copy stands."""
    return out / "feedback" / f"{student}.json"


def write_student(out: Path, student: Written) -> None:
    """Write one student's two files, each whole or not at all."""
    write_whole(record_path(out, student.row.student), student.record)
    write_whole(feedback_path(out, student.row.student), student.feedback)


def read_results(out: Path, rows: Iterable[Row]) -> list[Result]:
    """The full results of some students, from what is written.

    Raises:
        UsageError: when a record is not one of ours.
    """
    return [_read_result(record_path(out, row.student)) for row in rows]


def _read_result(path: Path) -> Result:
    try:
        return from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} cannot be read as a result ({error!r}). `--force` writes everything again."
        ) from error


def write_class(course: Course, rows: Sequence[Row], out: Path) -> None:
    """Write `scores.csv` and `summary.json`.

    Args:
        course: whose exercises are the columns.
        rows: a row for each student, in order.
        out: the folder of the run.
    """
    write_whole(out / "scores.csv", scores_csv(course, rows))
    content = json.dumps(summary(rows), indent=2, ensure_ascii=False)
    write_whole(out / "summary.json", content + "\n")


def scores_csv(course: Course, rows: Iterable[Row]) -> str:
    """One row per student: blank for no submission, `undecided` where the grader failed."""
    ids = list(course.exercises)
    lines: list[Sequence[object]] = [["student", "score", "max_score", *ids]]
    for row in rows:
        cells = [_cell(row, row.exercises.get(id_)) for id_ in ids]
        lines.append([safe(row.student), _cell(row, row.score), row.max_score, *cells])
    return table(lines)


def _cell(row: Row, score: int | float | None) -> object:
    if score is not None:
        return score
    return UNDECIDED if row.submitted else ""


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The class in numbers."""
    scored = [row for row in rows if row.score is not None]
    scores = [Decimal(str(row.score)) for row in scored]
    return {
        "format": SUMMARY_FORMAT,
        "students": len(rows),
        "submitted": sum(row.submitted for row in rows),
        "undecided": [row.student for row in rows if row.undecided],
        "not_submitted": [row.student for row in rows if not row.submitted],
        "max_score": rows[0].max_score if rows else 0,
        "mean_score": round(float(mean(scores)), 2) if scores else None,
        "median_score": float(median(scores)) if scores else None,
        "scores": {row.student: row.score for row in scored},
        "seed": rows[0].seed if rows else "",
    }
