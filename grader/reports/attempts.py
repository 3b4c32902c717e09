"""What several attempts tell of a class: tries until an exercise was solved, and who is stuck now."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from grader.core.records import AssignmentResult, AttemptScore, Result
from grader.course.course import Course

STUCK = 2
"""So many last attempts without more points than before make somebody stuck."""
MOST_TRIES = 4
"""From so many on, tries are counted together."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How many tries students took until they solved an exercise.

    Args:
        exercise: its id.
        counts: how many students took one, two, three, four and more.
        median: the tries that half of those who solved it needed at most.
        unsolved: how many tried it and have not solved it.
    """

    exercise: str
    counts: tuple[int, ...]
    median: float | None
    unsolved: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """Somebody whose last attempts brought no more points.

    Args:
        assignment: its id.
        count: how many attempts in a row.
        exercises: what they tried in the last one and have not solved, by name.
    """

    student: str
    assignment: str
    count: int
    exercises: tuple[str, ...]


def tries_until_solved(results: Sequence[Result], course: Course) -> list[Tries]:
    """The exercises that anybody has attempts at, in course order."""
    parts = [p for result in results for p in result.assignments if p.attempts and p.counts]
    found = []
    for id_, exercise in course.exercises.items():
        mine = [part.attempts for part in parts if part.id == exercise.assignment]
        tried = [[one for one in attempts if id_ in one.tried] for attempts in mine]
        tried = [attempts for attempts in tried if attempts]
        if tried:
            needed = [_needed(attempts, id_, exercise.points) for attempts in tried]
            solved = [count for count in needed if count]
            counts = [min(count, MOST_TRIES) for count in solved]
            found.append(
                Tries(
                    id_,
                    tuple(counts.count(number) for number in range(1, MOST_TRIES + 1)),
                    median(solved) if solved else None,
                    len(needed) - len(solved),
                )
            )
    return found


def _needed(attempts: Sequence[AttemptScore], id_: str, points: float) -> int:
    """How many tries it took until it was solved; 0 where it was not."""
    for number, one in enumerate(attempts, 1):
        if _is_solved(one, id_, points):
            return number
    return 0


def _is_solved(one: AttemptScore, id_: str, points: float) -> bool:
    score = one.exercises.get(id_)
    return bool(points) and score is not None and score >= Decimal(str(points))


def stuck(results: Sequence[Result], course: Course) -> list[Stuck]:
    """Who is stuck now, in which assignments."""
    found = (
        _stuck(result.student, part, course)
        for result in results
        for part in result.assignments
        if part.counts
    )
    return [one for one in found if one is not None]


def _stuck(student: str, part: AssignmentResult, course: Course) -> Stuck | None:
    earned = [
        sum((s or Decimal(0) for s in a.exercises.values()), Decimal(0)) for a in part.attempts
    ]
    count = 0
    while count + 1 < len(earned) and max(earned[-count - 1 :]) <= max(earned[: -count - 1]):
        count += 1
    if count < STUCK:
        return None
    last = part.attempts[-1]
    unsolved = [
        id_
        for id_ in last.tried
        if id_ in course.exercises
        and not _is_solved(last, id_, course.exercises[id_].points)
        and course.exercises[id_].points
    ]
    names = tuple(id_.partition("/")[2] for id_ in unsolved)
    return Stuck(student, part.id, count, names) if names else None
