"""Grades one submission: runs its checks, adds up its points."""

import platform
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version

import torch

from grader.course import Assignment, Course, Exercise
from grader.handle import SubmissionHandle
from grader.model import AssignmentResult, CheckResult, ExerciseResult, Result, Visibility
from grader.pytest_plugin import CheckRun, run_checks
from grader.scoring import days_late, exercise_score, late_factor, rounded, total
from grader.sessions.base import Session
from grader.submission import Submission
from grader.workbench import Workbench

ALL_CHECKS = (Visibility.VISIBLE, Visibility.HIDDEN)
VISIBLE_CHECKS = (Visibility.VISIBLE,)


@dataclass(frozen=True, slots=True)
class Scope:
    """What to grade: which exercises, by which checks."""

    exercises: dict[str, Exercise]
    visibilities: tuple[Visibility, ...] = ALL_CHECKS


def grade(workbench: Workbench, submission: Submission, session: Session, scope: Scope) -> Result:
    """Run a submission's checks in a session and score them.

    Raises:
        GraderFault: when the grader itself fails before any check could report.
    """
    handle = SubmissionHandle(submission, session, workbench.course.limits)
    run = CheckRun(workbench, handle, scope.exercises, scope.visibilities)
    checks = run_checks(run)
    return collect(workbench, submission, session.isolation, scope, checks)


def collect(
    workbench: Workbench,
    submission: Submission,
    isolation: tuple[str, ...],
    scope: Scope,
    checks: dict[str, tuple[CheckResult, ...]],
) -> Result:
    """The result that these outcomes add up to."""
    course = workbench.course
    assignments = tuple(
        _assignment(course, assignment, submission, scope, checks)
        for assignment in course.assignments
        if any(exercise.id in scope.exercises for exercise in assignment.exercises)
    )
    return Result(
        student=submission.student,
        score=total(a.score for a in assignments),
        max_score=sum(a.max_score for a in assignments),
        undecided=any(e.undecided for a in assignments for e in a.exercises),
        submitted=True,
        isolation=isolation,
        seed=workbench.seed,
        versions=versions(),
        course_hash=workbench.course.hash,
        submission_hash=submission.hash,
        assignments=assignments,
    )


def _assignment(
    course: Course,
    assignment: Assignment,
    submission: Submission,
    scope: Scope,
    checks: dict[str, tuple[CheckResult, ...]],
) -> AssignmentResult:
    exercises = tuple(
        ExerciseResult(
            id=exercise.id,
            score=exercise_score(exercise.points, checks[exercise.id]),
            max_score=exercise.points,
            checks=checks[exercise.id],
        )
        for exercise in assignment.exercises
        if exercise.id in scope.exercises
    )
    reading = submission.readings[assignment.id]
    late = days_late(assignment.due, reading.submitted_at, course.late)
    notes, score = reading.notes, total(exercise.score for exercise in exercises)
    if late and score is not None:
        factor = late_factor(late, course.late)
        off = f"{100 - 100 * factor} percent taken off" if factor != 1 else "nothing taken off"
        notes = (*notes, f"{late} {'day' if late == 1 else 'days'} late: {off}.")
        score = rounded(Fraction(score) * factor)
    return AssignmentResult(
        id=assignment.id,
        read_from=reading.read_from,
        score=score,
        max_score=sum(exercise.max_score for exercise in exercises),
        exercises=exercises,
        notes=notes,
        days_late=late,
    )


def not_submitted(workbench: Workbench, student: str) -> Result:
    """The result of a student who handed in nothing: no score, which is not a zero."""
    return Result(
        student=student,
        score=None,
        max_score=sum(assignment.max_score for assignment in workbench.course.assignments),
        undecided=False,
        submitted=False,
        isolation=(),
        seed=workbench.seed,
        versions=versions(),
        course_hash=workbench.course.hash,
        submission_hash="",
    )


def undecided(workbench: Workbench, submission: Submission, reason: str) -> Result:
    """The result of a submission on which the grader itself failed."""
    return Result(
        student=submission.student,
        score=None,
        max_score=sum(assignment.max_score for assignment in workbench.course.assignments),
        undecided=True,
        submitted=True,
        isolation=(),
        seed=workbench.seed,
        versions=versions(),
        course_hash=workbench.course.hash,
        submission_hash=submission.hash,
        assignments=tuple(
            AssignmentResult(
                a.id, submission.readings[a.id].read_from, None, a.max_score, (), (reason,)
            )
            for a in workbench.course.assignments
        ),
    )


def versions() -> dict[str, str]:
    """What a result depends on besides course and submission."""
    return {
        "attention-course": version("attention-course"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }
