"""Results made by hand, for the example course."""

from decimal import Decimal

from grader.core.records import (
    AssignmentResult,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Result,
    Visibility,
)
from grader.course.course import Course, Exercise

KEYS_MIXED = Mistake("mixture-of-keys", "The keys are mixed.", "What does a token pass on?")


def check(outcome: Outcome, visibility: Visibility = Visibility.VISIBLE) -> CheckResult:
    """A check that ended so."""
    message = "" if outcome is Outcome.PASSED else "expected 1, received 2\nsecret of the seed"
    return CheckResult("id", "It is right.", visibility, 1, outcome, message, 0.01)


def result(course: Course, student: str, scores: dict[str, object], days_late: int = 0) -> Result:
    """A result with these scores; assignments without any of them were not handed in."""
    assignments = []
    for assignment in course.assignments:
        is_read = any(exercise.name in scores for exercise in assignment.exercises)
        exercises = tuple(
            exercise_result(exercise, scores.get(exercise.name))
            if is_read
            else ExerciseResult(exercise.id, None, exercise.points)
            for exercise in assignment.exercises
        )
        read = (assignment.id, f"{assignment.module}.py" if is_read else "", None)
        most = assignment.max_score
        assignments.append(AssignmentResult(*read, most, exercises=exercises, days_late=days_late))
    return Result(student, None, 6, False, True, (), "7", {}, "", "", tuple(assignments))


def exercise_result(exercise: Exercise, score: object) -> ExerciseResult:
    """An exercise with one failed check, unless it has its full score."""
    points = None if score is None else Decimal(str(score))
    outcome = Outcome.ERROR if points is None else Outcome.FAILED
    if points == exercise.points:
        return ExerciseResult(exercise.id, points, exercise.points, checks=(check(Outcome.PASSED),))
    findings = (Finding((KEYS_MIXED,)),) if exercise.name == "Mixture" else ()
    checks = (check(outcome), check(outcome, Visibility.HIDDEN))
    return ExerciseResult(exercise.id, points, exercise.points, checks=checks, findings=findings)
