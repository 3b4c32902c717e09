"""What a student predicted, and what their code says to it."""

from collections.abc import Iterable
from contextlib import closing

from grader.course.course import Exercise
from grader.judging.submission_grader import SubmissionGrader, visible_grader
from grader.judging.views import CodeAnswer, answered, load_predictions
from grader.progress.live_checks import checked
from grader.progress.progress import Progress
from grader.progress.store import Memory
from grader.sessions.base import Session
from grader.sessions.child import ChildSession
from grader.sessions.launchers import early_launcher
from grader.submissions.submission import Submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.predictions import Prediction

Answers = dict[str, tuple[Prediction, CodeAnswer | str]]
"""By exercise, its prediction with what the code says, or why it says nothing."""


def answers(
    grader: SubmissionGrader,
    submission: Submission,
    session: Session,
    exercises: Iterable[Exercise],
) -> Answers:
    """What a submission says to the predictions of some exercises.

    Args:
        grader: what it is checked with.
        submission: the work.
        session: that it runs in.
        exercises: those that it solves.

    Raises:
        CourseError: when a file of predictions has a problem.
    """
    course, wanted = grader.environment.course, {exercise.id: exercise for exercise in exercises}
    handle = SubmissionHandle(submission, session, course.limits, course.assignments)
    return {
        id_: (one, answered(grader.environment, handle, wanted[id_], one))
        for id_, one in load_predictions(course, wanted).items()
    }


def answers_now(now: Progress, exercises: Iterable[Exercise]) -> Answers:
    """The same for the work as it is, for those of these exercises that are solved.

    What was solved when it was last checked, and has changed since, is checked again.
    """
    course, chosen = now.course, list(exercises)
    before = Memory(course.root).results()
    were = [one for one in chosen if one.id in before and before[one.id].exercise.is_solved]
    changed = now.unknown(were)
    if changed:
        now = checked(now, changed)
    solved = {one.id: one for one in chosen if now.is_solved(one)}
    if not solved:
        return {}
    work, limits = now.submission, course.limits
    with (
        closing(ChildSession(early_launcher(), work, limits, owns_launcher=True)) as session,
        closing(visible_grader(course, exercises=solved)) as grader,
    ):
        return answers(grader, work, session, solved.values())
