"""Classes of any size for tests: students of different ability, with mistakes, late, undecided."""

import random
from decimal import Decimal

from grader.core.records import (
    AssignmentResult,
    Axis,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Picture,
    Result,
    Visibility,
)
from grader.course.course import Assignment, Course, Exercise
from grader.course.misconceptions import read_misconceptions
from grader.judging.picture_layout import SIGNS
from grader.judging.scoring import exercise_score, total

TITLES = (
    "The result has the shape of the scores.",
    "Each row of weights sums to one.",
    "The documents' weights come out.",
    "Unseen inputs give what the solution gives.",
)
TOKENS = ("Your", "journey", "starts", "with", "one", "step")


def generated_class(course: Course, size: int, seed: int = 1) -> list[Result]:
    """A class of so many students, the same for the same seed."""
    known = {
        a.id: [(m.exercise, m.mistake) for m in read_misconceptions(course, a)]
        for a in course.assignments
    }
    draw = random.Random(seed)
    return [_student(course, known, number, draw) for number in range(size)]


def _student(
    course: Course,
    known: dict[str, list[tuple[str, Mistake]]],
    number: int,
    draw: random.Random,
) -> Result:
    ability = draw.gauss(0.7, 0.2)
    fate = draw.random()
    is_there, is_undecided, is_late = fate > 0.04, fate > 0.99, 0.9 < fate < 0.98
    assignments = tuple(
        _assignment(a, known[a.id], ability - place / 40, draw, days=2 if is_late and place else 0)
        for place, a in enumerate(course.assignments)
    )
    if is_undecided:
        assignments = (_undecided(assignments[0]), *assignments[1:])
    score = total(assignment.score for assignment in assignments)
    return Result(
        student=f"student{number:03}",
        score=score if is_there else None,
        max_score=sum(assignment.max_score for assignment in course.assignments),
        undecided=is_there and is_undecided,
        submitted=is_there,
        isolation=("sealed",) if is_there else (),
        seed="1",
        versions={"grader-kit": "0.1.0", "python": "3.11.7", "torch": "2.13.0"},
        course_hash="c0ffee",
        submission_hash="beef" if is_there else "",
        assignments=assignments if is_there else (),
    )


def _undecided(assignment: AssignmentResult) -> AssignmentResult:
    first, *others = assignment.exercises
    broken = ExerciseResult(
        first.id, None, first.max_score, checks=(_check(first.id, 0, Outcome.ERROR, "It broke."),)
    )
    return AssignmentResult(
        assignment.id, assignment.read_from, None, assignment.max_score, exercises=(broken, *others)
    )


def _assignment(
    assignment: Assignment,
    known: list[tuple[str, Mistake]],
    ability: float,
    draw: random.Random,
    *,
    days: int,
) -> AssignmentResult:
    exercises = tuple(
        _exercise(exercise, [m for id_, m in known if id_ == exercise.id], ability, draw)
        for exercise in assignment.exercises
    )
    return AssignmentResult(
        id=assignment.id,
        read_from=f"{assignment.id}/{assignment.module}.py",
        score=total(exercise.score for exercise in exercises),
        max_score=assignment.max_score,
        exercises=exercises,
        days_late=days,
    )


def _exercise(
    exercise: Exercise, known: list[Mistake], ability: float, draw: random.Random
) -> ExerciseResult:
    luck = draw.random()
    if luck < ability:
        checks = tuple(_check(exercise.id, n, Outcome.PASSED) for n in range(len(TITLES)))
        return ExerciseResult(exercise.id, Decimal(exercise.points), exercise.points, checks=checks)
    if luck > 0.9:
        outcomes = [Outcome.NOT_ATTEMPTED, *[Outcome.BLOCKED] * (len(TITLES) - 1)]
        checks = tuple(_check(exercise.id, n, one) for n, one in enumerate(outcomes))
        return ExerciseResult(exercise.id, Decimal(0), exercise.points, checks=checks)
    passed = draw.randrange(len(TITLES))
    message = "attend(<tensor (6, 6)>)\nThe result: 2 of 36 values differ.\nIt is too large."
    checks = tuple(
        _check(exercise.id, n, Outcome.PASSED)
        if n < passed
        else _check(exercise.id, n, Outcome.FAILED, message, picture(draw))
        for n in range(len(TITLES))
    )
    size = min(len(known), draw.choice((0, 1, 1, 1, 1, 2)))
    findings = (Finding(tuple(known[:size])),) if size else ()
    score = exercise_score(exercise.points, checks)
    return ExerciseResult(exercise.id, score, exercise.points, checks=checks, findings=findings)


def _check(
    id_: str, number: int, outcome: Outcome, message: str = "", shown: Picture | None = None
) -> CheckResult:
    visibility = Visibility.HIDDEN if number == len(TITLES) - 1 else Visibility.VISIBLE
    name = f"{id_}::{visibility}::test_{number}"
    return CheckResult(name, TITLES[number], visibility, 1, outcome, message, 0.001, picture=shown)


def picture(draw: random.Random, rows: int = 6, columns: int = 6) -> Picture:
    """A picture of random weights, some of them wrong, one of them not a number."""
    expected = tuple(
        tuple(round(draw.random() / columns, 4) for _ in range(columns)) for _ in range(rows)
    )
    differs = tuple(tuple(row == column for column in range(columns)) for row in range(rows))
    received = tuple(
        tuple(
            next(iter(SIGNS)) if place == (0, 0) else -value if differs[row][column] else value
            for column, value in enumerate(values)
            for place in [(row, column)]
        )
        for row, values in enumerate(expected)
    )
    is_text = (rows, columns) == (6, 6)
    return Picture(
        what="the result",
        expected=expected,
        received=received,
        differs=differs,
        first=(0, 0),
        rows=Axis("query", 0, rows, TOKENS if is_text else ()),
        columns=Axis("key", 0, columns, TOKENS if is_text else ()),
        lines=(2, 2),
    )
