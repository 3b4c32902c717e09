"""Grades students one after the other with tools that are set up once: the work of one worker."""

import tempfile
from pathlib import Path

from grader.core.errors import CourseError, GraderError
from grader.core.language import _, use
from grader.core.records import Result
from grader.course.course import load_course
from grader.feedback.outcomes import summary_line
from grader.grading.class_files import Written, written
from grader.grading.orders import WorkOrder
from grader.grading.seal_probe import sealed_launcher
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
from grader.submissions.payload import HandedIn
from grader.submissions.student_folders import Student
from grader.submissions.submission import Submission, read_submission

TRIES = 2


def grade_student(grader: SubmissionGrader, launcher: Launcher, student: Student) -> Result:
    """Grade one student in a child process; a failure of ours makes this one result undecided.

    What fails in a way that nobody foresaw is tried once more first: it may have been the moment.
    """
    environment = grader.environment
    if student.path is None:
        return not_submitted(environment, student.id)
    submission = Submission(student.id)
    reason = ""
    for _try in range(TRIES):
        try:
            submission = read_submission(environment.course, student.path, student.id)
            if submission.is_empty:
                return not_submitted(environment, student.id)
            return _graded(grader, launcher, submission)
        except GraderError as error:
            reason = str(error)
            break
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    template = _("The grader itself failed: {reason}")
    return undecided(environment, submission, template.format(reason=reason))


def _graded(grader: SubmissionGrader, launcher: Launcher, submission: Submission) -> Result:
    course = grader.environment.course
    session = ChildSession(launcher, submission, course.limits)
    try:
        return grade(grader, submission, session, Scope(course.exercises))
    finally:
        session.close()


class Worker:
    """Torch, checks and reference answers, loaded once; a child process per student.

    Args:
        order: the run.
        launcher: makes the child processes; as the run's isolation says unless given.

    Raises:
        CourseError: when the course here is not the run's.
        CannotSealError: when student code is to be sealed and cannot be.
        UsageError: in a released copy, which has no hidden checks to grade by.
    """

    def __init__(self, order: WorkOrder, launcher: Launcher | None = None) -> None:
        use(order.language)
        course = load_course(order.root)
        if course.hash != order.course_hash:
            raise CourseError(
                f"{order.root}: this is not the course that the run began with; every machine "
                "needs the same course, and nobody may change it while a class is graded"
            )
        self.order = order
        self.grader: SubmissionGrader = full_grader(course, order.seed)
        self.launcher: Launcher = launcher or _launcher(order.isolation)

    def result(self, student: Student) -> Result:
        """Grade a student; a failure of ours makes this one result undecided."""
        return grade_student(self.grader, self.launcher, student)

    def grade(self, student: Student) -> Written:
        """The same as it is written down."""
        result = self.result(student)
        return written(result, summary_line(result))

    def grade_sent(self, handed: HandedIn) -> Written:
        """The same for a submission that came as data."""
        with tempfile.TemporaryDirectory(prefix="handed-in-") as folder:
            return self.grade(Student(handed.student, handed.unpack(Path(folder))))

    def close(self) -> None:
        """End the processes it holds."""
        self.launcher.close()
        self.grader.close()


def _launcher(isolation: str) -> Launcher:
    return sealed_launcher() if isolation == "sealed" else default_launcher()


def undecided_result(order: WorkOrder, student: Student, reason: str) -> Written:
    """The result of a student on whom the grader itself failed."""
    grader = full_grader(load_course(order.root), order.seed)
    try:
        submission = Submission(student.id)
        sentence = _("The grader itself failed: {reason}").format(reason=reason)
        result = undecided(grader.environment, submission, sentence)
        return written(result, summary_line(result))
    finally:
        grader.close()
