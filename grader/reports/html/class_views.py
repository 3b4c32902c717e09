"""What the class report shows, worked out from the results of a class."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from grader.core.language import _, listed, ngettext
from grader.core.records import ExerciseResult, Result
from grader.core.text import clean
from grader.course.course import Assignment, Course
from grader.feedback.outcomes import ExerciseStatus, exercise_status
from grader.grading.results import has_something, is_handed_in, points
from grader.reports.html.views import percent, shown
from grader.reports.insights import (
    ExerciseInsight,
    Misunderstood,
    exercise_insights,
    misunderstood,
)

BARS = 10
"""The columns of the histogram: a tenth of the points each."""

MOST_SHOWN = 8
"""How many mistakes, and names of students, are shown at once; the others are folded."""

FEW_LATE = 2
"""How many late assignments are listed by name."""


@dataclass(frozen=True, slots=True)
class First:
    """A group of students to look at first, and why; each with their own reason, or ""."""

    title: str
    why: str
    students: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A column of the histogram: from and to which share in percent, how many, how high."""

    low: int
    high: int
    count: int
    height: float


@dataclass(frozen=True, slots=True)
class MapCell:
    """A student's exercise on the map.

    Args:
        text: the points, or a sign.
        css: its status; "" for the many that are solved, so that the page stays small.
    """

    text: str
    css: str


@dataclass(frozen=True, slots=True)
class MapRow:
    """A student on the map."""

    student: str
    score: str
    flag: str
    cells: tuple[MapCell, ...]


@dataclass(frozen=True, slots=True)
class ClassView:
    """The class report."""

    course: str
    students: int
    submitted: int
    max_score: int
    mean: str
    median: str
    is_sealed: bool
    first: tuple[First, ...]
    bars: tuple[Bar, ...]
    mistakes: tuple[Misunderstood, ...]
    exercises: tuple[ExerciseInsight, ...]
    assignments: tuple[Assignment, ...]
    rows: tuple[MapRow, ...]
    shown: int = MOST_SHOWN


def class_view(results: Sequence[Result], course: Course) -> ClassView:
    """Everything the class report shows; the results are the instructor's records."""
    scores = [result.score for result in results if result.score is not None]
    submitted = sum(result.submitted for result in results)
    return ClassView(
        course=course.text(course.title),
        students=len(results),
        submitted=submitted,
        max_score=course.max_score,
        mean=f"{mean(scores):.1f}" if scores else "–",
        median=f"{median(scores):.1f}" if scores else "–",
        is_sealed=all("sealed" in result.isolation for result in results if result.isolation),
        first=_first(results),
        bars=_bars(results),
        mistakes=tuple(misunderstood(results)),
        exercises=tuple(exercise_insights(results, course)),
        assignments=course.assignments,
        rows=tuple(_row(result, course) for result in sorted(results, key=_rank)),
    )


def _rank(result: Result) -> int:
    """Undecided students first, then late ones; otherwise the order they came in."""
    return 0 if result.undecided else 1 if result.days_late else 2


def _first(results: Sequence[Result]) -> tuple[First, ...]:
    groups = (
        First(
            _("Undecided"),
            _("The grader itself failed on a part of their work. Grade them again."),
            tuple((r.student, _reason(r)) for r in results if r.undecided),
        ),
        First(
            _("Late"),
            _("What the course's rule takes off is taken off their scores."),
            tuple((r.student, _lateness(r)) for r in results if r.days_late),
        ),
        First(
            _("Nothing found in their files"),
            _("What they handed in could not be read, did not load, or defines other names."),
            tuple((r.student, why) for r in results if (why := _unfound(r))),
        ),
        First(
            _("Nothing handed in"),
            _("They have no score, which is not a zero."),
            tuple((r.student, "") for r in results if not r.submitted),
        ),
    )
    return tuple(group for group in groups if group.students)


def _reason(result: Result) -> str:
    """Why a result is undecided: the first reason there is."""
    for assignment in result.assignments:
        if assignment.score is None and not assignment.exercises and assignment.notes:
            return clean(assignment.notes[0], 200)
        for exercise in assignment.exercises:
            if exercise.undecided:
                return exercise.id
    return ""


def _unfound(result: Result) -> str:
    """Why nothing was found in a file, for the first assignment where it is so; "" for none."""
    for assignment in result.assignments:
        if assignment.checks and is_handed_in(result, assignment) and not has_something(assignment):
            # Its first line says what is not defined, the second why.
            lines = [*assignment.notes[:1], *assignment.checks[0].message.splitlines()[1::-1]]
            return clean(f"{assignment.id}: {lines[0]}" if lines else assignment.id, 200)
    return ""


def _lateness(result: Result) -> str:
    late = [a for a in result.assignments if a.days_late]
    if len(late) > FEW_LATE:
        return _("{count} assignments, up to {days} days").format(
            count=len(late), days=result.days_late
        )
    return listed(
        ngettext("{id}: {days} day", "{id}: {days} days", a.days_late).format(
            id=a.id, days=a.days_late
        )
        for a in late
    )


def _bars(results: Sequence[Result]) -> tuple[Bar, ...]:
    counts = [0] * BARS
    for result in results:
        if result.score is not None:
            share = percent(result.score, result.max_score)
            counts[min(BARS - 1, share * BARS // 100)] += 1
    most = max(counts) or 1
    step = 100 // BARS
    return tuple(
        Bar(number * step, (number + 1) * step, count, count / most)
        for number, count in enumerate(counts)
    )


def _row(result: Result, course: Course) -> MapRow:
    found = {exercise.id: exercise for exercise in result.exercises}
    cells = tuple(_cell(found.get(id_), result) for id_ in course.exercises)
    flag = _("undecided") if result.undecided else _("late") if result.days_late else ""
    score = shown(result.score) if result.submitted else ""
    return MapRow(result.student, score, flag, cells)


CSS = {
    ExerciseStatus.SOLVED: "",
    ExerciseStatus.PARTLY: "p",
    ExerciseStatus.WRONG: "w",
    ExerciseStatus.WAITING: "n",
    ExerciseStatus.UNTOUCHED: "n",
    ExerciseStatus.MISSING: "n",
    ExerciseStatus.UNDECIDED: "u",
}


def _cell(exercise: ExerciseResult | None, result: Result) -> MapCell:
    """The points where there is an attempt; a sign where there is none."""
    if exercise is None:
        return MapCell("?", "u") if result.undecided else MapCell("", "n")
    one = exercise_status(exercise)
    css = CSS[one]
    if css in ("n", "u"):
        return MapCell("?" if css == "u" else "·", css)
    if one is ExerciseStatus.PARTLY and exercise.score is not None:
        return MapCell(f"{exercise.score:.1f}".removesuffix(".0"), css)
    return MapCell(f"{points(exercise.score)}", css)
