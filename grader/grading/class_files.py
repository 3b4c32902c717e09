"""What a class run writes: a record and a copy for the student each, and the class in two files."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from grader.core.errors import UsageError
from grader.core.records import Result
from grader.course.course import Course
from grader.grading.results import fields_of, for_student, from_json, points, to_json
from grader.submissions.nbgrader_defects import is_defect

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

    def record(self) -> dict[str, Any]:
        """The row as JSON."""
        return fields_of(self)


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
        defects=tuple(note for a in result.assignments for note in a.notes if is_defect(note)),
    )


def row_from(record: Mapping[str, Any]) -> Row:
    """A row from its record.

    Raises:
        TypeError, KeyError: when it is none.
    """
    texts = {name: tuple(record[name]) for name in ("isolation", "defects")}
    return Row(**{**record, **texts})


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
    write_text(record_path(out, student.row.student), student.record)
    write_text(feedback_path(out, student.row.student), student.feedback)


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
            f"{path} cannot be read as a result ({error!r}). `--force` writes everything anew."
        ) from error


def write_class(course: Course, rows: Sequence[Row], out: Path) -> None:
    """Write `scores.csv` and `summary.json`."""
    write_text(out / "scores.csv", scores_csv(course, rows))
    content = json.dumps(summary(rows), indent=2, ensure_ascii=False)
    write_text(out / "summary.json", content + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all; what a killed run left of it is overwritten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, "utf-8", errors="backslashreplace", newline="\n")
    temporary.replace(path)


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


def safe(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The class in numbers."""
    scored = [row for row in rows if row.score is not None]
    scores = sorted(Decimal(str(row.score)) for row in scored)
    return {
        "format": SUMMARY_FORMAT,
        "students": len(rows),
        "submitted": sum(row.submitted for row in rows),
        "undecided": [row.student for row in rows if row.undecided],
        "not_submitted": [row.student for row in rows if not row.submitted],
        "max_score": rows[0].max_score if rows else 0,
        "mean_score": round(float(sum(scores) / len(scores)), 2) if scores else None,
        "median_score": _median(scores),
        "scores": {row.student: row.score for row in scored},
        "seed": rows[0].seed if rows else "",
    }


def _median(scores: Sequence[Decimal]) -> float | None:
    if not scores:
        return None
    middle = len(scores) // 2
    if len(scores) % 2:
        return float(scores[middle])
    return float((scores[middle - 1] + scores[middle]) / 2)
