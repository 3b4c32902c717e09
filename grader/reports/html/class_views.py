"""What the class report shows, worked out from the results of a class."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from grader.core.language import _, listed, ngettext
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.core.text import clean
from grader.course.course import Course
from grader.intake.roster import Enrolled
from grader.judging.outcomes import ExerciseStatus, exercise_status, status_words
from grader.judging.results import has_something, points
from grader.reports.html.views import percent
from grader.reports.insights import Misunderstood, stuck

Entry = tuple[str, str]
"""A student's exercise on the map: the points, or a sign; its status, "" for the many that are
solved, so that the page stays small."""

FEW_LATE = 2
"""How many late assignments are listed by name."""


@dataclass(frozen=True, slots=True)
class First:
    """A group of students to look at first, and why; each with their own reason, or ""."""

    title: str
    why: str
    students: tuple[tuple[str, str], ...]


def first_to_look_at(results: Sequence[Result], course: Course) -> tuple[First, ...]:
    """The groups of students that need somebody, each where there are any."""
    groups = (
        First(
            _("Undecided"),
            _("A part of their work could not be judged. Grade them again."),
            tuple((r.student, _reason(r)) for r in results if r.undecided),
        ),
        First(
            _("Late"),
            _("What the course's rule takes off is taken off their scores."),
            tuple((r.student, _lateness(r)) for r in results if r.days_late),
        ),
        First(
            _("Stuck"),
            _("Their last attempts brought no more points than those before."),
            tuple(
                (
                    one.student,
                    ngettext(
                        "{id}: {count} attempt, {names}",
                        "{id}: {count} attempts, {names}",
                        one.count,
                    ).format(id=one.assignment, count=one.count, names=listed(one.exercises)),
                )
                for one in stuck(results, course)
            ),
        ),
        First(
            _("Nothing found in their files"),
            _("What they handed in could not be read, did not load, or defines other names."),
            tuple((r.student, why) for r in results if (why := _unfound(r))),
        ),
        First(
            _("Nothing handed in"),
            _("They have no score, which is not a zero."),
            tuple((r.student, "") for r in results if not (r.submitted or r.is_exempt)),
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
                return f"{exercise.id}: {status_words(exercise)}"
    return ""


def _unfound(result: Result) -> str:
    """Why nothing was found in a file, for the first assignment where it is so; "" for none."""
    for assignment in result.assignments:
        if assignment.counts and assignment.checks and not has_something(assignment):
            # A message's first line says what is not defined, the second why.
            told = [text.splitlines()[0] for text in assignment.file_failures[:1]]
            told += assignment.notes[:1]
            lines = [*told, *assignment.checks[0].message.splitlines()[1::-1]]
            return clean(f"{assignment.id}: {lines[0]}" if lines else assignment.id, 200)
    return ""


def _lateness(result: Result) -> str:
    late = [a for a in result.assignments if a.days_late]
    if len(late) > FEW_LATE:
        return _("{count} assignments, up to {days} days").format(
            count=len(late), days=result.days_late
        )
    return listed(map(_late_words, late))


def _late_words(late: AssignmentResult) -> str:
    """How late an assignment is, and how many of these days cost nothing."""
    words = ngettext("{id}: {days} day", "{id}: {days} days", late.days_late)
    if late.late_days_used:
        words = ngettext(
            "{id}: {days} day, {used} at no cost",
            "{id}: {days} days, {used} at no cost",
            late.days_late,
        )
    return words.format(id=late.id, days=late.days_late, used=late.late_days_used)


Groups = Mapping[str, Mapping[str, str]]
"""By student, the groups that the roster has them in: `section`, `tutor`, and `labels` with | between."""


def groups_of(roster: Mapping[str, Enrolled]) -> Groups:
    """The groups of everybody on a roster who is in any."""
    found = {
        student: {"section": one.section, "tutor": one.tutor, "labels": "|".join(one.tags)}
        for student, one in roster.items()
    }
    return {s: {key: text for key, text in own.items() if text} for s, own in found.items()}


def choices(groups: Groups) -> list[tuple[str, str, list[str]]]:
    """What the map can be narrowed to: each kind of group, what it is called, and which there are."""
    named = {"section": _("section"), "tutor": _("tutor"), "labels": _("label")}
    found = {
        key: sorted({one for own in groups.values() for one in own.get(key, "").split("|") if one})
        for key in named
    }
    return [
        (key, named[key], values)
        for key, values in found.items()
        if len(values) > (key != "labels")
    ]


OFTEN = 5
"""Percent of a class: a mistake that fewer make is folded."""


def frequent(mistakes: Sequence[Misunderstood], most: int) -> int:
    """How many of the mistakes, the most frequent first, are shown at once."""
    return sum(one.percent >= OFTEN for one in mistakes[:most])


def tenths(results: Sequence[Result]) -> list[int]:
    """How many students have which tenth of the points."""
    shares = [percent(r.score, r.max_score) for r in results if r.score is not None]
    counts = Counter(min(9, share // 10) for share in shares)
    return [counts[number] for number in range(10)]


def students_map(results: Sequence[Result], course: Course) -> Iterator[tuple[Result, list[Entry]]]:
    """Each student with an entry per exercise: undecided students first, then late ones."""
    ranked = sorted(results, key=lambda one: 0 if one.undecided else 1 if one.days_late else 2)
    for result in ranked:
        found = {exercise.id: exercise for exercise in result.exercises}
        yield result, [_entry(found.get(id_), result) for id_ in course.exercises]


CSS = {
    ExerciseStatus.SOLVED: "",
    ExerciseStatus.PARTLY: "p",
    ExerciseStatus.WRONG: "w",
    ExerciseStatus.UNDECIDED: "u",
}
"""The class of a cell on the map; of what has no points "n"."""
NO_POINTS = {ExerciseStatus.UNDECIDED: "?", ExerciseStatus.ABSENT: "", ExerciseStatus.EXEMPT: "–"}
"""What stands on the map in place of points: a dot for what was handed in and not attempted."""


def score_cell(result: Result) -> str:
    """A total on the map: blank where nothing was handed in, "?" where it is undecided."""
    is_exempt = result.submitted or result.is_exempt
    return _total(result.score, is_undecided=result.undecided, is_exempt=is_exempt)


def _total(score: Decimal | None, *, is_undecided: bool, is_exempt: bool) -> str:
    if score is not None:
        return f"{points(score)}"
    if is_undecided:
        return NO_POINTS[ExerciseStatus.UNDECIDED]
    return NO_POINTS[ExerciseStatus.EXEMPT if is_exempt else ExerciseStatus.ABSENT]


@dataclass(frozen=True, slots=True)
class OverTheTerm:
    """An assignment as one of a term's.

    Args:
        id: its id.
        count: how many have a score in it.
        percent: their mean share of the points.
        totals: each student's points, in the order of the results.
    """

    id: str
    count: int
    percent: int
    totals: tuple[str, ...]


def over_the_term(results: Sequence[Result], course: Course) -> list[OverTheTerm]:
    """The assignments one after the other; none where there is only one."""
    found = []
    for assignment in course.assignments if len(course.assignments) > 1 else ():
        parts = [next((a for a in r.assignments if a.id == assignment.id), None) for r in results]
        scored = [part for part in parts if part is not None and part.score is not None]
        earned = sum((Decimal(part.score or 0) for part in scored), Decimal())
        mean = percent(earned, sum(part.max_score for part in scored))
        totals = tuple("" if part is None else _part_cell(part) for part in parts)
        found.append(OverTheTerm(assignment.id, len(scored), mean, totals))
    return found


def _part_cell(part: AssignmentResult) -> str:
    return _total(part.score, is_undecided=part.counts, is_exempt=part.is_exempt)


def _entry(exercise: ExerciseResult | None, result: Result) -> Entry:
    """The points where there is an attempt; a sign where there is none."""
    if exercise is None:
        return ("?", "u") if result.undecided else ("", "n")
    one = exercise_status(exercise)
    css = CSS.get(one, "n")
    if css in ("n", "u"):
        return (NO_POINTS.get(one, "·"), css)
    if one is ExerciseStatus.PARTLY and exercise.score is not None:
        return (f"{exercise.score:.1f}".removesuffix(".0"), css)
    return (f"{points(exercise.score)}" if exercise.max_score else one.sign, css)
