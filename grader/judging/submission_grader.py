"""Grades one submission: runs its checks, adds up its points."""

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from grader.core.kit import versions
from grader.core.language import _
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
from grader.course.builds_on import all_builds_on
from grader.course.course import Assignment, Course, Exercise
from grader.judging.answer_cache import AnswerCache, AnswerCacheSession
from grader.judging.collect import collect
from grader.judging.exercise_judge import ExerciseJudge, imported_uses
from grader.judging.expected_requests import ExpectedRequests
from grader.judging.file_notes import defined_at, ignored, with_file_notes
from grader.judging.fixtures import CheckEnvironment, live_environment, recorded_environment
from grader.judging.known_mistakes import KnownMistakes, LiveMistakes, RecordedMistakes
from grader.judging.messages import does_not_run
from grader.judging.recordings import read_recording
from grader.judging.run import Check, CheckRun
from grader.judging.scoring import scored
from grader.sessions.base import Session
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.submission import Reading, Submission
from grader.testing.draw import VISIBLE_SEED
from grader.testing.earlier import is_right
from grader.testing.lookup import SubmissionHandle

ALL_CHECKS = (Visibility.VISIBLE, Visibility.HIDDEN)
VISIBLE_CHECKS = (Visibility.VISIBLE,)


@dataclass(frozen=True, slots=True)
class Scope:
    """What to grade: which exercises, by which checks."""

    exercises: dict[str, Exercise]
    visibilities: tuple[Visibility, ...] = ALL_CHECKS


@dataclass(frozen=True, slots=True)
class SubmissionGrader:
    """What submissions are graded with: the environment of the checks, and the known mistakes.

    Args:
        decided: by exercise, the points that visible checks decide, where that was recorded.
        builds_on: by exercise, the ids of the earlier ones that its solution calls.
        expected: what checks ask of the solution; None to ask submissions nothing ahead.
    """

    environment: CheckEnvironment
    mistakes: KnownMistakes
    collected: dict[tuple[object, ...], tuple[Check, ...]] = field(default_factory=dict)
    answers: AnswerCache = field(default_factory=AnswerCache)
    decided: Mapping[str, float] = field(default_factory=dict)
    builds_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expected: ExpectedRequests | None = None

    def checks(self, scope: Scope) -> tuple[Check, ...]:
        """The checks of a scope, collected when they are first asked for.

        Raises:
            CourseError: when a check declares something wrong.
            GraderFault: when checks cannot be collected.
        """
        course, key = self.environment.course, (*scope.exercises, *scope.visibilities)
        if key not in self.collected:
            self.collected[key] = collect(course, scope.exercises, scope.visibilities)
        return self.collected[key]

    def close(self) -> None:
        """End what the reference runs in."""
        self.environment.close()


def full_grader(
    course: Course, seed: str, *, apart: bool = False, launcher: Launcher | None = None
) -> SubmissionGrader:
    """What instructors grade with: all checks, and the known mistakes.

    Args:
        course: the course.
        seed: of the hidden checks' inputs.
        apart: run solutions in a process of their own.
        launcher: makes the processes of known mistakes, where there is one already.
    """
    return with_live_mistakes(course, seed, apart=apart, launcher=launcher)[0]


def with_live_mistakes(
    course: Course, seed: str, *, apart: bool = False, launcher: Launcher | None = None
) -> tuple[SubmissionGrader, LiveMistakes]:
    """The same, with its known mistakes, for those who run them by themselves; see `full_grader`."""
    mistakes = LiveMistakes(live_environment(course, seed, apart=apart), launcher)
    environment = mistakes.environment
    expected, builds_on = ExpectedRequests(environment), all_builds_on(course)
    grader = SubmissionGrader(environment, mistakes, builds_on=builds_on, expected=expected)
    return grader, mistakes


def visible_grader(
    course: Course,
    *,
    apart: bool = False,
    exercises: Collection[str] | None = None,
    launcher: Launcher | None = None,
) -> SubmissionGrader:
    """What students check with: recordings, or the solutions where the course has them.

    Args:
        course: the course.
        apart: run solutions in a process of their own.
        exercises: only what these need is read; everything unless given.
        launcher: as for `full_grader`.

    Raises:
        CourseError: when a recording is missing or damaged.
    """
    if course.has_solutions:
        return full_grader(course, VISIBLE_SEED, apart=apart, launcher=launcher)
    wanted = course.exercises if exercises is None else exercises
    needed = course.concerned(wanted)
    assignments = [a for a in course.assignments if a.id in needed]
    recordings = {a.id: read_recording(course.paths(a).recording) for a in assignments}
    known = {id_: pair for r in recordings.values() for id_, pair in r.known.items()}
    decided = {id_: points for r in recordings.values() for id_, points in r.decided.items()}
    parts = {id_: ids for r in recordings.values() for id_, ids in r.builds_on.items()}
    environment, mistakes = recorded_environment(course, recordings), RecordedMistakes(known)
    return SubmissionGrader(environment, mistakes, decided=decided, builds_on=parts)


def grade(
    grader: SubmissionGrader, submission: Submission, session: Session, scope: Scope
) -> Result:
    """Run a submission's checks in a session, name the mistakes, and add up the points.

    Args:
        grader: what it is graded with.
        submission: what was handed in.
        session: the conversation with the process that runs it.
        scope: which exercises, by which checks.

    Raises:
        GraderFault: when the grader itself fails before any check could report.
    """
    return scored(grader.environment.course, outcomes(grader, submission, session, scope))


def outcomes(
    grader: SubmissionGrader, submission: Submission, session: Session, scope: Scope
) -> Result:
    """Run a submission's checks in a session and name the mistakes; nothing is scored yet.

    Args:
        grader: what it is graded with.
        submission: what was handed in.
        session: the conversation with the process that runs it.
        scope: which exercises, by which checks.

    Raises:
        GraderFault: when the grader itself fails before any check could report.
    """
    environment, checks = grader.environment, grader.checks(scope)
    course = environment.course
    if isinstance(session, ChildSession):  # other sessions' replies are not bytes
        session = AnswerCacheSession(session, grader.answers)
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    expected = None if grader.expected is None else grader.expected.of
    with closing(CheckRun(environment, handle, checks, expected=expected)) as run:
        judge = ExerciseJudge(
            run,
            grader.mistakes,
            grader.builds_on,
            lambda e: grader.checks(Scope({e.id: e}, scope.visibilities)),
        )
        exercises = {
            id_: _exercise(judge, exercise)
            for id_, exercise in course.exercises.items()
            if id_ in scope.exercises
        }
    submission = with_file_notes(course, handle, exercises)
    if Visibility.HIDDEN in scope.visibilities:  # which are run for instructors alone
        submission = submission.for_instructors()
    stops = handle.stops(scope.exercises.values())
    failures = {key: tuple(does_not_run(*stop) for stop in found) for key, found in stops.items()}
    left_out = ignored(handle, scope.exercises.values())
    assignments = tuple(
        _assignment(assignment, submission, exercises, failures, left_out.get(assignment.id, ()))
        for assignment in course.assignments
        if any(exercise.id in exercises for exercise in assignment.exercises)
    )
    return _result(environment, submission, isolation=session.isolation, assignments=assignments)


def _exercise(judge: ExerciseJudge, exercise: Exercise) -> ExerciseResult:
    """An exercise's outcomes and what was recognised in it, in words."""
    made = judge.judge(exercise)
    return ExerciseResult(
        exercise.id,
        None,
        exercise.points,
        checks=made.checks or (_no_check(exercise),),
        findings=_in_words(judge.run.environment.course, made.findings),
        defined=defined_at(judge.run.submission, exercise),
        judged_with=made.judged_with,
        to_judge_with=made.to_judge_with,
        uses=() if is_right(made.checks) else imported_uses(judge.run, exercise),
    )


def _no_check(exercise: Exercise) -> CheckResult:
    """What stands for the checks of an exercise that has none: nothing says whether it is right."""
    reason = _("The grader itself failed: {reason}").format(reason=f"{exercise.id} has no checks")
    id_ = f"{exercise.id}::{Visibility.VISIBLE}::test_there_is_a_check"
    return CheckResult(id_, reason, Visibility.VISIBLE, 1, Outcome.ERROR, reason, 0.0)


def _in_words(course: Course, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings in the language of the run; they were made, and compared, in English."""

    def worded(mistake: Mistake) -> Mistake:
        symptom, question = course.text(mistake.symptom), course.text(mistake.question)
        return replace(mistake, symptom=symptom, question=question)

    return tuple(replace(f, candidates=tuple(map(worded, f.candidates))) for f in found)


def _assignment(
    assignment: Assignment,
    submission: Submission,
    graded: dict[str, ExerciseResult],
    failures: Mapping[str, tuple[str, ...]],
    left_out: tuple[str, ...],
) -> AssignmentResult:
    """The outcomes in an assignment; none where nobody can say what was handed in.

    Args:
        assignment: which.
        submission: what was handed in.
        graded: exercises by id; those of the assignment that are missing do not count.
        failures: why files of the submission do not run, by file.
        left_out: what was handed in for it and does not count, in sentences.
    """
    reading = submission.readings.get(assignment.id, Reading())
    exercises = tuple(graded[e.id] for e in assignment.exercises if e.id in graded)
    return AssignmentResult(
        id=assignment.id,
        read_from=reading.read_from,
        score=None,
        max_score=assignment.max_score,
        exercises=() if reading.undecided else exercises,
        notes=(*reading.notes, reading.undecided) if reading.undecided else reading.notes,
        defects=reading.defects,
        file_failures=tuple(f for key in reading.sources for f in failures.get(key, ())),
        submitted_at=reading.submitted_at,
        ignored=left_out,
    )


def not_submitted(
    environment: CheckEnvironment, student: str, unread: tuple[str, ...] = ()
) -> Result:
    """The result of a student who handed in nothing to grade: no score, which is not a zero.

    Args:
        environment: what it would have been graded with.
        student: who.
        unread: files that were handed in and hold nothing of the course.
    """
    return _result(
        environment, Submission(student), submitted=False, submission_hash="", unread=unread
    )


def undecided(
    environment: CheckEnvironment,
    submission: Submission,
    reason: str,
    only: Collection[str] = (),
) -> Result:
    """The result of a submission on which the grader itself failed.

    Args:
        environment: what it was graded with.
        submission: what was handed in.
        reason: what failed, for instructors; a note on each assignment.
        only: the assignments that were to be graded; all of them where none is named.
    """
    note = _("The grader itself failed: {reason}").format(reason=reason)
    assignments = tuple(
        AssignmentResult(a.id, reading.read_from, None, a.max_score, exercises=(), notes=(note,))
        for a in environment.course.assignments
        if not only or a.id in only
        for reading in (submission.readings.get(a.id, Reading()),)
    )
    return _result(environment, submission, undecided=True, assignments=assignments)


def _result(environment: CheckEnvironment, submission: Submission, **known: Any) -> Result:
    """A result without a score, but for what is known."""
    result = Result(
        student=submission.student,
        score=None,
        max_score=environment.course.max_score,
        undecided=False,
        submitted=True,
        isolation=(),
        seed=environment.seed,
        versions=versions(),
        course_hash=environment.course.hash,
        submission_hash=submission.hash,
        assignments=(),
    )
    return replace(result, **known)
