"""Makes the recordings that a release carries instead of solutions."""

from grader.course import Assignment, Course
from grader.errors import CourseError
from grader.handle import SubmissionHandle
from grader.ledger import Ledger
from grader.model import Outcome, Visibility
from grader.pytest_plugin import CheckRun, run_checks
from grader.recording import Recording
from grader.sessions.in_process import InProcessSession
from grader.sessions.traced import RecordingSession
from grader.workbench import Workbench, read_solutions


def record(course: Course, assignment: Assignment) -> Recording:
    """Run the visible checks of an assignment on its solution and write down all answers.

    Raises:
        CourseError: when the solution does not pass them.
    """
    submission = read_solutions(course)
    session = RecordingSession(InProcessSession(submission))
    reference = SubmissionHandle(submission, session, course.limits)
    workbench = Workbench(course, Ledger(course.documents), reference, session, "")
    student = SubmissionHandle(submission, InProcessSession(submission), course.limits)
    exercises = {exercise.id: exercise for exercise in assignment.exercises}
    run = CheckRun(workbench, student, exercises, (Visibility.VISIBLE,))
    for checks in run_checks(run).values():
        for check in checks:
            if check.outcome not in (Outcome.PASSED, Outcome.REMARK):
                raise CourseError(f"{check.id}: the solution does not pass it: {check.message}")
    names = [exercise.name for exercise in assignment.exercises]
    source = submission.readings[assignment.id].sources[0]
    return Recording(source, names, session.traces)
