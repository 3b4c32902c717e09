"""Grades students one after the other with checks that are loaded once: one worker of a run."""

import tempfile
from contextlib import closing
from pathlib import Path

from grader.core.errors import CourseError, GraderError
from grader.core.language import use
from grader.core.records import Result
from grader.course.course import load_course
from grader.feedback.outcomes import summary_line
from grader.grading.class_files import Written, written
from grader.grading.run_settings import RunSettings
from grader.grading.seal_probe import CannotSealError, sealed_launcher
from grader.grading.submission_grader import (
    Scope,
    SubmissionGrader,
    full_grader,
    grade,
    not_submitted,
    undecided,
)
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher, default_launcher
from grader.submissions.payload import Payload
from grader.submissions.student_folders import Student
from grader.submissions.submission import Submission, read_submission, unread_files

TRIES = 2


def grade_student(grader: SubmissionGrader, launcher: Launcher, student: Student) -> Result:
    """Grade one student in a child process; a failure of ours makes this one result undecided.

    An unforeseen failure is tried once more first: it may have been the moment.

    Args:
        grader: the course's checks, loaded.
        launcher: makes the child process.
        student: whom to grade.
    """
    environment, submission, reason = grader.environment, Submission(student.id), ""
    course = environment.course
    if student.path is None:
        return not_submitted(environment, student.id)
    for _try in range(TRIES):
        try:
            submission = read_submission(course, student.path, student.id)
            if submission.is_empty:
                return not_submitted(environment, student.id, unread_files(student.path))
            with closing(ChildSession(launcher, submission, course.limits)) as session:
                return grade(grader, submission, session, Scope(course.exercises))
        except GraderError as error:
            reason = str(error)
            break
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    return undecided(environment, submission, reason)


def launcher_as_graded() -> Launcher:
    """What a class is graded with: sealed where this machine can, else child processes."""
    try:
        return sealed_launcher()
    except CannotSealError:
        return default_launcher()


class Worker:
    """Torch, checks and known mistakes, loaded once; a child process per student.

    Args:
        settings: the run's.
        launcher: makes the child processes; it is the worker's from now on.

    Raises:
        CourseError: when the course here is not the run's.
        UsageError: in a released copy, which has no hidden checks to grade by.
    """

    def __init__(self, settings: RunSettings, launcher: Launcher) -> None:
        use(settings.language)
        course = load_course(settings.root)
        if course.hash != settings.course_hash:
            raise CourseError(
                f"{settings.root}: this is not the course that the run began with; every machine "
                "needs the same course, and nobody may change it while a class is graded"
            )
        self.grader = full_grader(course, settings.seed)
        self.launcher = launcher

    def result(self, student: Student) -> Result:
        """Grade a student; a failure of ours makes this one result undecided."""
        return grade_student(self.grader, self.launcher, student)

    def grade(self, student: Student) -> Written:
        """The same in the form that is written to disk."""
        result = self.result(student)
        return written(result, summary_line(result))

    def grade_payload(self, payload: Payload) -> Written:
        """The same for a submission that came as data."""
        with tempfile.TemporaryDirectory(prefix="handed-in-") as folder:
            return self.grade(Student(payload.student, payload.unpack(Path(folder))))

    def close(self) -> None:
        """End the processes it holds."""
        self.launcher.close()
        self.grader.close()


def undecided_result(settings: RunSettings, student: Student, reason: str) -> Written:
    """The result of a student on whom the grader itself failed.

    Args:
        settings: the run's.
        student: who could not be graded.
        reason: why not.
    """
    with closing(full_grader(load_course(settings.root), settings.seed)) as grader:
        result = undecided(grader.environment, Submission(student.id), reason)
        return written(result, summary_line(result))
