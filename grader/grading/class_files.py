"""What a class run writes: a record and a copy for the student each, and the class in two files."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from statistics import mean, median
from typing import NotRequired, TypedDict

from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.core.files import file_name, is_shortened, write_whole
from grader.core.kit import KIT_NAME
from grader.core.records import (
    AttemptScore,
    ExerciseResult,
    Outcome,
    Points,
    Record,
    Result,
    added,
    always,
)
from grader.course.course import Course
from grader.grading.results import exact, for_student, parsed, points, result_text
from grader.grading.scoring import total

SUMMARY_FORMAT = f"{KIT_NAME}/summary/2"
UNDECIDED = "undecided"
EXEMPT = "exempt"
SUMMARY = "summary.json"


class Row(Record, frozen=True, omit_defaults=True):
    """A student's result in one line: what the class's files and tables are made of.

    Args:
        score: in points; None when undecided or nothing was handed in.
        undecided: whether something could not be judged.
        submitted: whether anything was handed in.
        exercises: the score of each exercise that was graded, by id.
        summary_line: what happened, in a few words.
        isolation: the layers around the student's code.
        defects: what nbgrader would stumble over in what was handed in.
        assignments: the score of each assignment, by id, with what lateness took off it.
        days_late: of the latest assignment.
        off: the points that lateness took off in all.
        submitted_at: when the assignments were handed in of which that is known, by id.
        decided: what instructors decided about the student, and about what.
        automatic: the score without that.
        exempt: the ids of exercises and assignments that do not count for the student.
        time_sources: where `submitted_at` is known from, where that is not nbgrader's timestamp.
        attempts: which attempt at an assignment counts, of how many, by id.
        had_no_turn: whether it is undecided because the computer was busy.
    """

    student: str
    score: Points | None
    max_score: Points
    undecided: bool
    submitted: bool
    exercises: Mapping[str, Points | None]
    summary_line: str
    isolation: tuple[str, ...]
    seed: str
    defects: tuple[str, ...] = always(())
    assignments: Mapping[str, Points | None] = always({})
    days_late: int = always(0)
    off: Points | None = always(0)
    submitted_at: Mapping[str, str] = always({})
    decided: tuple[str, ...] = ()
    automatic: Points | None = None
    exempt: tuple[str, ...] = ()
    time_sources: Mapping[str, str] = always({})
    attempts: Mapping[str, str] = always({})
    had_no_turn: bool = always(False)

    def of(self, course: Course) -> Points | None:
        """The score in some of the assignments; None when it is undecided or there is none."""
        scores = [score for id_, score in self.assignments.items() if id_ in course.by_id]
        return points(total(map(exact, scores))) if self.submitted else None

    def most(self, course: Course) -> Points:
        """The points there are in some of the assignments, without what does not count."""
        counting = (e for id_, e in course.exercises.items() if id_ not in self.exempt)
        return added(e.points for e in counting)


def row_of(result: Result, summary_line: str) -> Row:
    """The row of a result."""
    earned, given = total(e.score for e in result.exercises), result.score
    off = None if earned is None or given is None else points(earned - given)
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
        assignments={a.id: points(a.score) for a in result.assignments},
        days_late=result.days_late,
        off=off,
        submitted_at={
            a.id: a.submitted_at.isoformat() for a in result.assignments if a.submitted_at
        },
        decided=result.decided,
        automatic=points(result.automatic),
        exempt=tuple(
            id_
            for part in result.assignments
            for id_, is_exempt in (
                *((e.id, e.is_exempt) for e in part.exercises),
                (part.id, part.is_exempt),
            )
            if is_exempt
        ),
        time_sources={
            a.id: a.time_source for a in result.assignments if a.time_source and a.submitted_at
        },
        attempts={a.id: attempts_words(a.attempts) for a in result.assignments if a.attempts},
        had_no_turn=result.had_no_turn,
    )


def attempts_words(scores: Sequence[AttemptScore]) -> str:
    """Which attempts count, and how many there are."""
    counting = [str(number) for number, one in enumerate(scores, 1) if one.counts]
    return f"{' and '.join(counting)} of {len(scores)}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whose results a class's files have.

    Args:
        course_hash: of the course that this run graded with.
        earlier: who has a result of an earlier run only, which may be out of date.
        to_do: who was to be graded and is not, because the run ended early.
    """

    course_hash: str = ""
    earlier: frozenset[str] = frozenset()
    to_do: tuple[str, ...] = ()

    def sentence(self, rows: Sequence[Row]) -> str:
        """How many of the class are from this run, from earlier ones, and still to do."""
        now = sum(row.student not in self.earlier for row in rows)
        text = f"{_students(now)} graded as of this run"
        if self.earlier:
            text += f", {len(self.earlier)} as of an earlier one"
        return f"{text}, {len(self.to_do)} still to do." if self.to_do else f"{text}."


ALL_NOW = Coverage()


def _students(count: int) -> str:
    return "1 student" if count == 1 else f"{count} students"


@dataclass(frozen=True, slots=True)
class Written:
    """The two files of one student as text, and the row."""

    row: Row
    record: str
    feedback: str


def written(result: Result, summary_line: str) -> Written:
    """A result as it is written down."""
    return Written(row_of(result, summary_line), _record(result), _record(for_student(result)))


LINES = re.compile(r'\{"id": "(?:[^":]*::()|[^":]*/[^":]*", ()|[^"/]*", "read_from"())')
"""Where a line of a record begins: a check, an exercise or an assignment."""


def _record(result: Result) -> str:
    """A result as JSON in lines; `json` takes ten times as long when it is to make them."""
    return "".join(_lines(result_text(result)))


def _lines(text: str) -> Iterator[str]:
    start = 0
    for line in LINES.finditer(text):
        yield text[start : line.start()].rstrip(" ")
        yield "\n" + " " * (4 - (line.lastindex or 0))
        start = line.start()
    yield text[start:] + "\n"


def record_path(out: Path, student: str) -> Path:
    """Where the instructor's record of a student stands."""
    return out / "results" / f"{file_name(student)}.json"


def records_in(out: Path) -> dict[str, Path]:
    """The instructor's records of a folder, by student."""
    return {_whose(path): path for path in sorted(record_path(out, "").parent.glob("*.json"))}


def _whose(path: Path) -> str:
    """Whose record a file is: it says so itself where its name is a shortened one."""
    if is_shortened(path.stem):
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(path.read_text("utf-8"))["student"])
    return path.stem


def feedback_path(out: Path, student: str) -> Path:
    """Where the student's copy stands."""
    return out / "feedback" / f"{file_name(student)}.json"


def write_student(out: Path, student: Written) -> None:
    """Write one student's two files, each whole or not at all."""
    write_whole(record_path(out, student.row.student), student.record)
    write_whole(feedback_path(out, student.row.student), student.feedback)


def read_results(out: Path, rows: Iterable[Row]) -> list[Result]:
    """The full results of some students, from what is written.

    Raises:
        UsageError: when a record is not one of ours.
    """
    todo = " `--force` writes everything again."
    return [read_record(record_path(out, row.student), todo) for row in rows]


def all_results(out: Path) -> list[Result]:
    """The full results of everybody who has one in a folder, by name.

    Raises:
        UsageError: when a record is not one of ours.
    """
    return [read_record(path) for path in records_in(out).values()]


def read_record(path: Path, todo: str = "") -> Result:
    """A full result, from what is written.

    Args:
        path: the record.
        todo: what may be done where it is not one of ours, as a sentence after a space.

    Raises:
        UsageError: when the record is not one of ours.
    """
    with _as_result(path, todo):
        return parsed(path.read_bytes())


def read_failures(path: Path) -> Result:
    """A result with those exercises only in which a check failed.

    Raises:
        UsageError: when the record is not one of ours.
    """
    result = read_record(path)
    assignments = (
        replace(part, exercises=tuple(e for e in part.exercises if _has_failed(e)))
        for part in result.assignments
    )
    return replace(result, assignments=tuple(assignments))


def _has_failed(exercise: ExerciseResult) -> bool:
    return any(check.outcome is Outcome.FAILED for check in exercise.checks)


def read_two(one: tuple[Path, str], other: tuple[Path, str]) -> tuple[Result, Result]:
    """Two records of a student, without the assignments that are the same in both.

    Args:
        one: its path, and what it holds.
        other: the same of the other one.

    Raises:
        UsageError: when a record is not one of ours.
    """
    results = []
    for path, text in (one, other):
        with _as_result(path):
            results.append(parsed(text))
    parts, others = ({part.id: part for part in result.assignments} for result in results)
    same = {id_ for id_ in parts.keys() & others.keys() if parts[id_] == others[id_]}
    before, after = (
        replace(result, assignments=tuple(a for a in result.assignments if a.id not in same))
        for result in results
    )
    return before, after


@contextmanager
def _as_result(path: Path, todo: str = "") -> Iterator[None]:
    """Say which file it is about when it is no result."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} cannot be read as a result ({error!r}).{todo}") from error


Change = tuple[Points | None, Points | None]
"""A score before a run and after it."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What a run leaves.

    Args:
        course: with the assignments that the results have.
        rows: of everybody who has a result in the folder, by name.
        covers: which of them are of this run.
        left: whose results were moved aside, because they are not in the class any more.
        changed: whose score is another one than before this run.
        is_written: whether anybody's result was; reports of an earlier run are then moved aside.
    """

    course: Course
    rows: list[Row]
    covers: Coverage
    left: tuple[str, ...] = ()
    changed: Mapping[str, Change] = field(default_factory=dict)
    is_written: bool = False


class DueSummary(TypedDict):
    """What was due so far: the points there were, and how many students have on average."""

    max_score: Points
    mean_score: float | None


class Summary(TypedDict):
    """The class in numbers; `changed` and `due` are in a run's file, the latter where not all is due."""

    format: str
    written_at: str
    course: str
    covers: str
    earlier: list[str]
    to_do: list[str]
    students: int
    submitted: int
    undecided: list[str]
    not_submitted: list[str]
    max_score: Points
    mean_score: float | None
    median_score: float | None
    scores: dict[str, Points | None]
    seed: str
    changed: NotRequired[Mapping[str, Change]]
    due: NotRequired[DueSummary]


def due_summary(rows: Iterable[Row], due: Course) -> DueSummary:
    """What was due so far, and how much of it students have on average."""
    scores = [score for row in rows if (score := row.of(due)) is not None]
    mean_score = round(float(mean(scores)), 2) if scores else None
    return {"max_score": due.max_score, "mean_score": mean_score}


def summary(rows: Sequence[Row], covers: Coverage, now: datetime) -> Summary:
    """The class in numbers, and what they cover.

    Args:
        rows: a row for each student who has a result, in order.
        covers: which of the rows are of this run, and who is missing.
        now: when they were written.
    """
    scored = [row for row in rows if row.score is not None]
    scores = [Decimal(str(row.score)) for row in scored]
    return {
        "format": SUMMARY_FORMAT,
        "written_at": now.isoformat(timespec="seconds"),
        "course": covers.course_hash,
        "covers": covers.sentence(rows),
        "earlier": sorted(covers.earlier),
        "to_do": list(covers.to_do),
        "students": len(rows),
        "submitted": sum(row.submitted for row in rows),
        "undecided": [row.student for row in rows if row.undecided],
        "not_submitted": [row.student for row in rows if not row.submitted],
        "max_score": max((row.max_score for row in rows), default=0),
        "mean_score": round(float(mean(scores)), 2) if scores else None,
        "median_score": float(median(scores)) if scores else None,
        "scores": {row.student: row.score for row in scored},
        "seed": rows[0].seed if rows else "",
    }
