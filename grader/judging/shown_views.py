"""Views of a submission: those of some exercises, and of what was just solved."""

from collections.abc import Iterable
from contextlib import suppress

from grader.core.errors import CourseError
from grader.core.records import Result
from grader.core.views import ViewResult
from grader.judging.submission_grader import SubmissionGrader
from grader.judging.views import ExerciseView, ViewRun, Views, load_views
from grader.sessions.base import Session
from grader.submissions.submission import Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.views import Text


def run_views(
    grader: SubmissionGrader,
    submission: Submission,
    session: Session,
    views: Iterable[ExerciseView],
    text: Text | None = None,
) -> tuple[ViewResult, ...]:
    """What views show of a submission.

    Args:
        grader: whose environment they are run in.
        submission: what is shown.
        session: the conversation with the process that runs it.
        views: which.
        text: the words that are shown; None where the course has no text.
    """
    course = grader.environment.course
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    run = ViewRun(grader.environment, handle, text)
    return tuple(map(run.run, views))


def own_text(views: Views) -> Text | None:
    """The course's own text, where it has one."""
    return views.example.text() if views.example is not None else None


def shown_solved(
    grader: SubmissionGrader, submission: Submission, session: Session, result: Result
) -> tuple[ViewResult, ...]:
    """The views of all exercises that are solved, for a page.

    Args:
        grader: what it was graded with.
        submission: what was graded.
        session: the conversation with the process that runs it.
        result: how it was graded.

    Returns:
        None of a course whose views are wrong: `grader show` and `grader validate` say how.
    """
    with suppress(CourseError):
        views = load_views(
            grader.environment.course, [e.id for e in result.exercises if e.is_solved]
        )
        return run_views(grader, submission, session, views.views, own_text(views))
    return ()
