"""What a notebook's test cells call: the visible checks of one exercise, run in the kernel.

The messages are those of `grader check`, with the picture below them. Student code and checks
share the kernel's process here; the reference answers from a recording or from a process of its
own.
"""

import sys
from functools import lru_cache
from pathlib import Path

from grader.cli.render import plain_console, print_check, worth_telling
from grader.course import Course, find_course, load_course
from grader.drawing import first_difference
from grader.errors import GraderError
from grader.grading import VISIBLE_CHECKS, Bench, Scope, checking_bench, grade
from grader.model import Picture, Result
from grader.results import points
from grader.sessions.in_process import InProcessSession
from grader.submission import Reading, Source, Submission

KEY = "this notebook"


def check_exercise(exercise_id: str) -> float | int:
    """Run an exercise's visible checks on what this notebook has defined so far.

    Args:
        exercise_id: the full id.

    Returns:
        The points earned, so that the test cell's last line is its partial credit.
    """
    namespace = sys._getframe(1).f_globals
    try:
        course, bench = _bench(find_course(Path.cwd()))
        exercises = course.select((exercise_id,))
        submission = _submission(course)
        session = InProcessSession(submission)
        session.adopt(KEY, namespace)
        result = grade(bench, submission, session, Scope(exercises, VISIBLE_CHECKS))
    except GraderError as error:
        print(error)
        return 0
    is_rich = _shows_html()
    print_check(result, plain_console(), pictures=not is_rich)
    if is_rich:
        _show(_first_pictures(result))
    return points(result.score) or 0


def _shows_html() -> bool:
    """Whether this is a notebook's kernel, which can show more than text."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return find is not None and hasattr(find(), "kernel")


def _first_pictures(result: Result) -> list[Picture]:
    """The picture of each exercise's first failure, where it has one."""
    exercises = [e for assignment in result.assignments for e in assignment.exercises]
    firsts = [check for exercise in exercises for check in worth_telling(exercise)[:1]]
    return [check.picture for check in firsts if check.picture is not None]


def _show(pictures: list[Picture]) -> None:
    """Show pictures below the words: as HTML, or in words where that cannot be shown."""
    if not pictures:
        return
    from IPython.display import display

    from grader.reports.html.pages import pictures as page

    words = "\n".join(first_difference(picture) for picture in pictures)
    display({"text/html": page(pictures), "text/plain": words}, raw=True)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def _bench(root: Path) -> tuple[Course, Bench]:
    course = load_course(root)
    return course, checking_bench(course, apart=True)


def _submission(course: Course) -> Submission:
    """The kernel's namespace, read as one notebook that defines everything."""
    source = Source(KEY, "notebook", importable=False, cells=())
    readings = {a.id: Reading((KEY,), KEY) for a in course.assignments}
    return Submission("me", {KEY: source}, readings)
