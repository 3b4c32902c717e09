"""A student's result in one line, and the class in numbers: `scores.csv` and `summary.json`."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import NotRequired, TypedDict

from grader.classes.records import SUMMARY
from grader.core.files import table, write_whole
from grader.core.kit import KIT_NAME
from grader.core.records import (
    AssignmentResult,
    AttemptScore,
    ExerciseResult,
    Points,
    Result,
    added,
)
from grader.course.course import Course
from grader.intake.roster import Enrolled
from grader.judging.results import exact, points
from grader.judging.scoring import total

SUMMARY_FORMAT = f"{KIT_NAME}/summary/2"
UNDECIDED = "undecided"
EXEMPT = "exempt"


@dataclass(frozen=True, slots=True)
class Row:
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
        open_: the ids of exercises and assignments that are undecided.
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
    defects: tuple[str, ...] = ()
    assignments: Mapping[str, Points | None] = field(default_factory=dict)
    days_late: int = 0
    off: Points | None = 0
    submitted_at: Mapping[str, str] = field(default_factory=dict)
    decided: tuple[str, ...] = ()
    automatic: Points | None = None
    exempt: tuple[str, ...] = ()
    time_sources: Mapping[str, str] = field(default_factory=dict)
    attempts: Mapping[str, str] = field(default_factory=dict)
    had_no_turn: bool = False
    open_: tuple[str, ...] = ()

    @property
    def is_exempt(self) -> bool:
        """Whether nothing of the run counts for the student."""
        return bool(self.exempt) and not self.assignments

    def of(self, course: Course) -> Points | None:
        """The score in some of the assignments; None when it is undecided or there is none."""
        scores = {id_: score for id_, score in self.assignments.items() if id_ in course.by_id}
        known = [exact(score) for score in scores.values() if score is not None]
        return points(total(known)) if known and not scores.keys() & {*self.open_} else None

    def most(self, course: Course) -> Points:
        """The points there are in some of the assignments, without what does not count."""
        counting = (e for id_, e in course.exercises.items() if id_ not in self.exempt)
        return added(e.points for e in counting)


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
        assignments={a.id: points(a.score) for a in result.assignments if not a.is_exempt},
        days_late=result.days_late,
        off=_off(result),
        submitted_at={
            a.id: a.submitted_at.isoformat() for a in result.assignments if a.submitted_at
        },
        decided=result.decided,
        automatic=points(result.automatic),
        exempt=tuple(one.id for one in _parts(result) if one.is_exempt),
        time_sources={
            a.id: a.time_source for a in result.assignments if a.time_source and a.submitted_at
        },
        attempts={a.id: attempts_words(a.attempts) for a in result.assignments if a.attempts},
        had_no_turn=result.had_no_turn,
        open_=tuple(one.id for one in _parts(result) if one.counts and one.score is None),
    )


def _parts(result: Result) -> Iterator[ExerciseResult | AssignmentResult]:
    """Exercises, and each assignment after its own."""
    for part in result.assignments:
        yield from part.exercises
        yield part


def _off(result: Result) -> int | float | None:
    """The points that lateness took off; None where that is undecided or nothing counts."""
    parts = [part for part in result.assignments if part.counts]
    if not parts:
        return None
    earned = total(e.score for part in parts for e in part.exercises if not e.is_missing)
    given = total(part.score for part in parts)
    return None if earned is None or given is None else points(earned - given)


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
        why: how many of these, by what it comes from.
        gone: work that was there in the run before and is not any more: student and assignment.
        open_attempts: attempts that do not count and could not be judged: whose, of what, and when.
        is_written: whether anybody's result was; reports of an earlier run are then moved aside.
    """

    course: Course
    rows: list[Row]
    covers: Coverage
    left: tuple[str, ...] = ()
    changed: Mapping[str, Change] = field(default_factory=dict)
    why: Mapping[str, int] = field(default_factory=dict)
    gone: tuple[tuple[str, str], ...] = ()
    open_attempts: tuple[str, ...] = ()
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


# The class's own files.


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

    def cell(score: Points | None, *, is_open: bool) -> object:
        return score if score is not None else UNDECIDED if is_open else ""

    def part(id_: str, row: Row) -> object:
        scores: Mapping[str, Points | None] = row.exercises if "/" in id_ else row.assignments
        is_open = bool({id_, id_.partition("/")[0]} & {*row.open_})
        return EXEMPT if id_ in row.exempt else cell(scores.get(id_), is_open=is_open)

    rows = [*rows]
    ids = [id_ for a in course.assignments for id_ in (*(e.id for e in a.exercises), a.id)]
    columns: dict[str, Callable[[Row], object]] = {
        "student": lambda row: row.student,
        "score": lambda row: cell(row.score, is_open=row.undecided),
        "max_score": lambda row: row.max_score,
        **{id_: partial(part, id_) for id_ in ids},
        "days_late": lambda row: row.days_late,
        "off": lambda row: cell(row.off, is_open=row.undecided),
    }
    if due is not None and due.assignments != course.assignments:
        are_due = due.by_id.keys()
        columns["due_score"] = lambda row: cell(row.of(due), is_open=bool(are_due & {*row.open_}))
        columns["due_max_score"] = lambda row: row.most(due)
    if any(row.decided for row in rows):
        columns["automatic"] = lambda row: cell(
            row.automatic if row.decided else None, is_open=False
        )
        columns["decided"] = lambda row: "; ".join(row.decided)
    if any(row.attempts for row in rows):
        columns["attempts"] = lambda row: _listed(row.attempts)
    if any(row.time_sources for row in rows):
        columns["handed_in"] = lambda row: _listed(
            {id_: f"{row.submitted_at[id_]} by {by}" for id_, by in row.time_sources.items()}
        )
    for name in KNOWN:
        if any(getattr(one, name) for one in roster.values()):
            columns[name] = lambda row, name=name: getattr(  # type: ignore[misc]
                roster.get(row.student, Enrolled(row.student)), name
            )
    columns["graded"] = lambda row: "earlier" if row.student in covers.earlier else "now"
    return table([[*columns], *([value(row) for value in columns.values()] for row in rows)])


def _listed(words: Mapping[str, str]) -> str:
    """Words on assignments, side by side."""
    return "; ".join(f"{id_} {said}" for id_, said in words.items())
