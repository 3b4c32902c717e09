"""Proves that each view shows something of the solution, whatever text it is about."""

from collections.abc import Collection, Iterator

from grader.course.course import CHECKS, VIEWS
from grader.judging.shown_views import run_views
from grader.judging.submission_grader import SubmissionGrader
from grader.judging.views import load_views
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Submission
from grader.testing.views import MOST_SHOWN

TEXTS = (None, "one", " ".join(f"word{number}" for number in range(MOST_SHOWN)))
"""The course's own text, the shortest and the longest."""


def views_show_solutions(
    grader: SubmissionGrader, solutions: Submission, chosen: Collection[str]
) -> Iterator[str]:
    """Every view of chosen exercises shows the solution, and its question asks.

    Raises:
        CourseError: when a file of views declares something wrong.
    """
    views = load_views(grader.environment.course, chosen)
    session = InProcessSession(solutions)
    for one in views.views:
        if not one.view.ask.endswith(("?", "？")):
            yield f"{_place(one.exercise.id)}: its question has no question mark"
    for words in TEXTS if views.example is not None else (None,):
        text = views.example.text(words) if views.example is not None else None
        about = f" about {words!r}" if words else ""
        shown = [one for one in views.views if not words or one.is_about_text]
        for result in run_views(grader, solutions, session, shown, text):
            if result.problem:
                place = _place(result.exercise)
                yield f"{place}: the solution shows nothing{about}: {result.problem}"


def _place(exercise: str) -> str:
    assignment, _slash, name = exercise.partition("/")
    return f"{CHECKS}/{assignment}/{VIEWS}: {name}"
