"""Grades a class: finds the students, grades each, writes the results down."""

import csv
import io
import json
import os
import secrets
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import Course
from grader.errors import GraderError, UsageError
from grader.grading import Bench, Scope, grade, grading_bench, not_submitted, undecided
from grader.model import Result
from grader.results import for_student, points, to_json
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submission import FORMS, Submission, read_submission

SUMMARY_FORMAT = "attention-course/summary/1"


@dataclass(frozen=True, slots=True)
class Student:
    """A student and where their work lies; None for one who handed in nothing."""

    id: str
    path: Path | None


def read_class(
    submissions: Path, roster: Path | None = None, assignments: Collection[str] = ()
) -> list[Student]:
    """The students of a class, by name; a folder of assignments is a class of one.

    Raises:
        UsageError: when there is nothing to grade, or the roster cannot be read.
    """
    if submissions.is_file() and submissions.suffix in FORMS:
        return [Student(submissions.stem, submissions)]
    if not submissions.is_dir():
        raise UsageError(
            f"There is no folder {submissions}. Give a folder with one folder per student, "
            "or a single .py or .ipynb."
        )
    if any((submissions / id_).is_dir() for id_ in assignments):
        return [Student(submissions.resolve().name, submissions)]
    folders = [path for path in submissions.iterdir() if not path.name.startswith(".")]
    found = {path.name: path for path in folders if path.is_dir() and not path.is_symlink()}
    names = {*found, *_roster(roster)}
    if not names:
        raise UsageError(
            f"{submissions} holds no student's folder. Expected is <student>/<nn_assignment>/<file>."
        )
    return [Student(name, found.get(name)) for name in sorted(names)]


def _roster(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"The roster {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The roster {path} is not text in UTF-8.") from error
    rows = csv.DictReader(io.StringIO(text))
    if "student" not in (rows.fieldnames or []):
        found = ", ".join(rows.fieldnames or []) or "nothing"
        raise UsageError(f"The roster {path} has no column `student`; its first line has {found}.")
    names = [row["student"].strip() for row in rows if (row["student"] or "").strip()]
    for name in names:
        if name.startswith(".") or not name.isprintable() or {"/", "\\"} & set(name):
            raise UsageError(f"The roster {path} lists {name!r}, which cannot be a folder's name.")
    return names


def grade_class(
    course: Course, students: list[Student], launcher: Launcher, seed: int | None
) -> Iterator[Result]:
    """Grade one student after the other; a failure of ours touches one result only.

    The launcher is closed at the end.

    Raises:
        UsageError: in a released copy, which has no hidden checks to grade by.
    """
    if not course.has_solutions:
        raise UsageError(
            "This is a released copy of the course, without solutions; `grader check` works here."
        )
    bench = grading_bench(course, str(seed if seed is not None else secrets.randbits(64)))
    try:
        for student in students:
            yield grade_student(bench, launcher, student)
    finally:
        launcher.close()
        bench.close()


def grade_student(bench: Bench, launcher: Launcher, student: Student) -> Result:
    """Grade one student in a child process."""
    workbench, course = bench.workbench, bench.workbench.course
    if student.path is None:
        return not_submitted(workbench, student.id)
    submission = Submission(student.id)
    try:
        submission = read_submission(course, student.path, student.id)
        if submission.is_empty:
            return not_submitted(workbench, student.id)
        session = ChildSession(launcher, submission, course.limits)
        try:
            return grade(bench, submission, session, Scope(course.exercises))
        finally:
            session.close()
    except GraderError as error:
        return undecided(workbench, submission, f"The grader itself failed: {error}")
    except Exception as error:
        reason = f"The grader itself failed: {type(error).__name__}: {error}"
        return undecided(workbench, submission, reason)


def write_outputs(course: Course, results: list[Result], out: Path) -> None:
    """Write `results/`, `feedback/`, `scores.csv` and `summary.json`."""
    for result in results:
        write_json(out / "results" / f"{result.student}.json", to_json(result))
        write_json(out / "feedback" / f"{result.student}.json", to_json(for_student(result)))
    write_text(out / "scores.csv", scores_csv(course, results))
    write_json(out / "summary.json", summary(results))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a record, whole or not at all."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, "utf-8", errors="backslashreplace", newline="\n")
    temporary.replace(path)


def scores_csv(course: Course, results: Iterable[Result]) -> str:
    """One row per student: blank for no submission, `undecided` where the grader failed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ids = list(course.exercises)
    writer.writerow(["student", "score", "max_score", *ids])
    for result in results:
        exercises = {e.id: e for a in result.assignments for e in a.exercises}
        cells = [_cell(result, exercises[i].score if i in exercises else None) for i in ids]
        writer.writerow(
            [_safe(result.student), _cell(result, result.score), result.max_score, *cells]
        )
    return text.getvalue()


def _cell(result: Result, score: Any) -> object:
    if score is not None:
        return points(score)
    return "undecided" if result.submitted else ""


def _safe(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def summary(results: list[Result]) -> dict[str, Any]:
    """The class in numbers."""
    scored = [result for result in results if result.score is not None]
    scores = sorted(result.score for result in scored if result.score is not None)
    return {
        "format": SUMMARY_FORMAT,
        "students": len(results),
        "submitted": sum(result.submitted for result in results),
        "undecided": [result.student for result in results if result.undecided],
        "not_submitted": [result.student for result in results if not result.submitted],
        "max_score": results[0].max_score if results else 0,
        "mean_score": round(float(sum(scores) / len(scores)), 2) if scores else None,
        "median_score": _median(scores),
        "scores": {result.student: points(result.score) for result in scored},
        "seed": results[0].seed if results else "",
    }


def _median(scores: list[Any]) -> float | None:
    if not scores:
        return None
    middle = len(scores) // 2
    if len(scores) % 2:
        return float(scores[middle])
    return float((scores[middle - 1] + scores[middle]) / 2)
