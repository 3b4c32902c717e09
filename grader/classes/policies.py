"""Which of a student's attempts counts, and what each of them earned. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from msgspec.structs import replace

from grader.classes.deciding import NO_LATE_DAYS, Deciding, LateWork, best_of
from grader.classes.decisions import Personal
from grader.core.language import _
from grader.core.records import AssignmentResult, AttemptScore, ExerciseResult
from grader.course.course import Course
from grader.judging.scoring import days_late, exercise_score, is_decided


class Policy(StrEnum):
    """Which attempt at an assignment counts.

    The last one; the one with the most points after lateness; of each exercise the best one; the
    last of those that are least late by the course's own dates, or, if it earns more, one that is
    less late by the student's.
    """

    LAST = "last"
    BEST = "best"
    BEST_PER_EXERCISE = "best-per-exercise"
    LAST_IN_TIME = "last-in-time"


def is_attempt(record: AssignmentResult) -> bool:
    """Whether anything was handed in for an assignment that is not as it was released."""
    is_touched = not all(exercise.is_untouched for exercise in record.exercises)
    return not is_decided(record) or (bool(record.read_from) and is_touched)


@dataclass(frozen=True, slots=True)
class Option:
    """What may count for an assignment.

    Args:
        record: its outcomes.
        used: the positions of the attempts that it is made of.
    """

    record: AssignmentResult
    used: tuple[int, ...]


def counting(
    course: Course,
    tries: Mapping[str, Sequence[AssignmentResult]],
    policy: Policy,
    personal: Personal,
) -> tuple[AssignmentResult, ...]:
    """The outcomes that count, each with what all attempts earned.

    Args:
        course: the course, with these assignments.
        tries: the attempts at each assignment, the first one first; at least one each.
        policy: which of them counts.
        personal: what was decided about the student.
    """
    own = {id_: [one for one in tries[id_] if is_attempt(one)] for id_ in tries}
    real = {id_: own[id_] or tries[id_][-1:] for id_ in course.by_id if id_ in tries}
    deciding = Deciding(course, personal)
    options = {id_: _options(real[id_], policy) for id_ in real}
    works = {id_: [deciding.late_work(o.record) for o in found] for id_, found in options.items()}
    left = {id_: [len(found) - 1] for id_, found in options.items()}
    if policy is Policy.LAST_IN_TIME:
        left = {id_: _in_time(course, id_, real[id_], works[id_]) for id_ in options}
    elif policy is not Policy.LAST:
        left = {id_: [*range(len(found))] for id_, found in options.items()}
    allowed = personal.late_days or NO_LATE_DAYS
    best = best_of([[works[i][n] for n in left[i]] for i in options], course.late, allowed)
    chosen = {id_: options[id_][left[id_][n]] for id_, (n, _) in zip(options, best, strict=True)}

    def result(record: AssignmentResult) -> AssignmentResult:
        records = {id_: one.record for id_, one in chosen.items()} | {record.id: record}
        if personal.late_days is None:  # what one assignment earns is nothing to the others
            records = {record.id: record}
        found = deciding.assignments([*records.values()])
        return next(part for part in found if part.id == record.id)

    done = []
    for id_, option in chosen.items():
        scores = tuple(
            _score(one, result(one), counts=number in option.used)
            for number, one in enumerate(own[id_])
        )
        done.append(replace(option.record, attempts=scores))
    return tuple(done)


def _in_time(
    course: Course, id_: str, tries: Sequence[AssignmentResult], works: Sequence[LateWork]
) -> list[int]:
    """The positions of the attempts of which one counts under `LAST_IN_TIME`.

    The last one that is least late by the course's date, and those after it that the student's own
    date makes less late: more time only adds to what may count.

    Args:
        course: the course.
        id_: the assignment.
        tries: the attempts.
        works: the same by the student's own dates.
    """
    due = course.by_id[id_].due
    late = [days_late(due, one.submitted_at, course.late) for one in tries]
    last = max(range(len(tries)), key=lambda n: (-late[n], n))
    return [last, *(n for n in range(last + 1, len(tries)) if works[n].days < late[n])]


def _score(one: AssignmentResult, part: AssignmentResult, *, counts: bool) -> AttemptScore:
    at = one.submitted_at
    return AttemptScore(
        at=at.isoformat() if at else "",
        score=part.score,
        days_late=part.days_late,
        counts=counts,
        exercises={exercise.id: exercise.score for exercise in part.exercises},
        tried=tuple(e.id for e in one.exercises if not e.is_untouched),
    )


def _options(tries: Sequence[AssignmentResult], policy: Policy) -> list[Option]:
    """Each attempt; or, exercise by exercise, the best of the first ones, for each number of them."""
    if policy is not Policy.BEST_PER_EXERCISE:
        return [Option(one, (number,)) for number, one in enumerate(tries)]
    return [_merged(tries[:count]) for count in range(1, len(tries) + 1)]


def _merged(tries: Sequence[AssignmentResult]) -> Option:
    """The best of each exercise, as part of the last attempt; of equal ones the latest."""
    last = len(tries) - 1
    taken = []
    for exercise in tries[last].exercises:
        same = [(n, e) for n, one in enumerate(tries) for e in one.exercises if e.id == exercise.id]
        taken.append(max(same, key=lambda pair: (_share(pair[1]), pair[0])))
    used = tuple(dict.fromkeys(sorted(number for number, _one in taken))) or (last,)
    base = tries[used[-1]]
    notes = [
        _("{exercise}: the attempt of {date} counts.").format(exercise=e.name, date=_date(tries[n]))
        for n, e in taken
        if n != used[-1]
    ]
    exercises = tuple(exercise for _n, exercise in taken)
    record = replace(base, exercises=exercises, notes=(*base.notes, *notes))
    return Option(record if exercises else tries[last], used)


def _share(exercise: ExerciseResult) -> Decimal:
    """How much of an exercise was earned, in thousandths; less than nothing where undecided."""
    score = exercise_score(1000, exercise.checks, exercise.findings)
    return Decimal(-1) if score is None else score


def _date(one: AssignmentResult) -> str:
    at = one.submitted_at
    return f"{at:%Y-%m-%d %H:%M} ({at.tzname()})" if at else "?"
