"""Grades students one after the other with checks that are loaded once: one worker of a run."""

import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from grader.classes.store import RunSettings
from grader.core.errors import CourseError, GraderError
from grader.core.language import use
from grader.core.records import Result
from grader.course.course import load_course
from grader.intake.folders import Student
from grader.judging.scoring import scored
from grader.judging.submission_grader import (
    Scope,
    SubmissionGrader,
    not_submitted,
    outcomes,
    undecided,
    with_live_mistakes,
)
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher
from grader.submissions.file_names import unread_files
from grader.submissions.payload import Payload
from grader.submissions.submission import Reading, Submission, read_submission

TRIES = 2


def grade_student(grader: SubmissionGrader, launcher: Launcher, student: Student) -> Result:
    """Grade one student in a child process; a failure of ours makes this one result undecided.

    An unforeseen failure is tried once more first: it may have been the moment.

    Args:
        grader: the course's checks, loaded.
        launcher: makes the child process.
        student: whom to grade.
    """
    return scored(grader.environment.course, student_outcomes(grader, launcher, student))


def student_outcomes(grader: SubmissionGrader, launcher: Launcher, student: Student) -> Result:
    """The same without scores; only in the student's assignments that are to be graded.

    Args:
        grader: the course's checks, loaded.
        launcher: makes the child process.
        student: whom to grade.
    """
    environment, submission, reason = grader.environment, Submission(student.id), ""
    course = environment.course
    exercises = course.only(student.only or course.by_id).exercises
    if student.refused:
        return undecided(environment, submission, student.refused, student.only)
    for _try in range(TRIES):
        try:
            unread: tuple[str, ...] = ()
            if student.path is not None:
                submission = read_submission(course, student.path, student.id)
                unread = unread_files(student.path) if submission.is_empty else ()
            if submission.is_empty and not student.only:
                return not_submitted(environment, student.id, unread)
            if submission.is_empty:  # work of other assignments may have been handed in before
                submission = replace(submission, readings=dict.fromkeys(course.by_id, Reading()))
            asked = course.concerned(exercises)
            child = ChildSession(launcher, submission, course.limits, assignments=asked)
            with closing(child) as session:
                found = outcomes(grader, submission, session, Scope(exercises))
            handed_in = any(r.sources or r.undecided for r in submission.readings.values())
            return structs.replace(found, submitted=handed_in, unread=unread)
        except GraderError as error:
            reason = str(error)
            break
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    return undecided(environment, submission, reason, student.only)


class Worker:
    """Torch, checks and known mistakes, loaded once; a child process per student.

    Args:
        settings: the run's.
        launcher: makes the child processes, for students and for known mistakes; it is the
            worker's from now on.
        says: is told of which exercise how many known mistakes are run.

    Raises:
        CourseError: when the course here is not the run's.
        UsageError: in a released copy, which has no hidden checks to grade by.
    """

    def __init__(
        self,
        settings: RunSettings,
        launcher: Launcher,
        says: Callable[[str, int], None] | None = None,
    ) -> None:
        use(settings.language)
        course = load_course(settings.root)
        if course.hash != settings.course_hash:
            raise CourseError(
                f"{settings.root}: this is not the course that the run began with; every machine "
                "needs the same course, and nobody may change it while a class is graded"
            )
        self.grader, mistakes = with_live_mistakes(course, settings.seed, launcher=launcher)
        mistakes.says = says
        self.launcher = launcher

    def result(self, student: Student) -> Result:
        """Grade a student; a failure of ours makes this one result undecided."""
        return grade_student(self.grader, self.launcher, student)

    def outcomes(self, student: Student) -> Result:
        """The same without scores, which the run works out from them."""
        return student_outcomes(self.grader, self.launcher, student)

    def outcomes_of_payload(self, payload: Payload, only: tuple[str, ...] = ()) -> Result:
        """The same for a submission that came as data, in all assignments or only some."""
        with tempfile.TemporaryDirectory(prefix="handed-in-") as folder:
            return self.outcomes(Student(payload.student, payload.unpack(Path(folder)), only))

    def close(self) -> None:
        """End the processes it holds."""
        self.launcher.close()
        self.grader.close()
