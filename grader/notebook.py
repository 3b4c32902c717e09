"""What a notebook's test cells call: the visible checks of one exercise, run in the kernel.

The messages are those of `grader check`. Student code and checks share the kernel's process here;
the reference answers from a recording or from a process of its own.
"""

import sys
from functools import lru_cache
from pathlib import Path

from grader import language
from grader.cli.render import plain_console, print_check
from grader.course import Course, find_course, load_course
from grader.errors import GraderError
from grader.grading import VISIBLE_CHECKS, Bench, Scope, checking_bench, grade
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
    print_check(result, plain_console())
    return points(result.score) or 0


@lru_cache(maxsize=1)
def _bench(root: Path) -> tuple[Course, Bench]:
    course = load_course(root)
    language.use(language.resolve(None, course.language))
    return course, checking_bench(course, apart=True)


def _submission(course: Course) -> Submission:
    """The kernel's namespace, read as one notebook that defines everything."""
    source = Source(KEY, "notebook", importable=False, cells=())
    readings = {a.id: Reading((KEY,), KEY) for a in course.assignments}
    return Submission("me", {KEY: source}, readings)
