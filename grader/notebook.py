"""What a notebook's own cells call: an exercise's visible checks, and the student's earlier work.

The messages are those of `grader check`, with the picture below them. Student code and checks
share the kernel's process here; the reference's results come from a recording, or from a process
of its own.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from functools import lru_cache
from pathlib import Path

from grader.cli.hint import hint_name
from grader.cli.render import View, plain_console, print_check
from grader.core import language
from grader.core.errors import GraderError, UsageError
from grader.core.language import _
from grader.core.records import Result
from grader.course.course import Assignment, Course, find_course, load_course
from grader.feedback.outcomes import shown_checks
from grader.feedback.picture_layout import first_difference
from grader.grading.results import points
from grader.grading.submission_grader import (
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.sandbox.loader import Loader
from grader.sessions.in_process import InProcessSession
from grader.submissions.submission import Reading, SourceFile, Submission, read_submission

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
        course, grader = _course_and_grader(find_course(Path.cwd()))
        exercises = course.select((exercise_id,))
        # The kernel's namespace, read as one notebook that defines everything.
        source = SourceFile(KEY, "notebook", importable=False, cells=())
        readings = {a.id: Reading((KEY,), KEY) for a in course.assignments}
        submission = Submission("me", {KEY: source}, readings)
        session = InProcessSession(submission)
        session.servant.loader.adopt(KEY, namespace)
        with _quiet_stderr():
            result = grade(grader, submission, session, Scope(exercises, VISIBLE_CHECKS))
    except GraderError as error:
        print(error)
        return 0
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    # A notebook's kernel shows more than text.
    is_rich = find is not None and hasattr(find(), "kernel")
    console = plain_console()
    with console.capture() as shown:
        print_check(result, console, View(pictures=not is_rich, hint=_hint_call(course)))
    print(shown.get(), end="")
    if is_rich:
        _show_pictures(result)
    return points(result.score) or 0


def _hint_call(course: Course) -> Callable[[str], str]:
    """What asks for a hint inside a notebook."""
    return lambda id_: f'`hint("{hint_name(course, id_)}")`'


def _show_pictures(result: Result) -> None:
    """Show the picture of each exercise's first failure: as HTML, or else in words."""
    firsts = [check for exercise in result.exercises for check in shown_checks(exercise)[:1]]
    pictures = [check.picture for check in firsts if check.picture is not None]
    if not pictures:
        return
    from IPython.display import display

    from grader.reports.html.pages import pictures as page

    words = "\n".join(first_difference(picture) for picture in pictures)
    display({"text/html": page(pictures), "text/plain": words}, raw=True)  # type: ignore[no-untyped-call]


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Show on stdout what is written to stderr: nbgrader scores a cell that writes there 0."""
    stderr = sys.stderr
    with redirect_stderr(sys.stdout):
        try:
            with suppress(AttributeError):  # a kernel's stream; logging may have kept hold of it
                stderr.write = sys.stdout.write  # type: ignore[method-assign]
            yield
        finally:
            with suppress(AttributeError):
                del stderr.write


def use_own(assignment_id: str) -> None:
    """Make the student's own module of an earlier assignment importable in this kernel.

    It is looked for beside the notebook, in the folder next to the notebook's (as assignments lie
    in a students' copy and in nbgrader's trees), and in what nbgrader collected.

    Args:
        assignment_id: the full id of the earlier assignment.
    """
    here = Path.cwd()
    folders = [here, here.parent]
    if len(here.parents) > 2:  # <course>/autograded/<student>/<assignment>
        folders.append(here.parents[2] / "submitted" / here.parent.name)
    try:
        course = load_course(find_course(here))
        language.use(language.resolve(None, course.language))
        assignment = course.by_id[course.select((assignment_id,)).popitem()[1].assignment]
        works = (_own_work(course, assignment, folder) for folder in folders)
        found = next(filter(None, works), None)
        if found is None:
            sentence = _(
                "Your assignment {assignment} is not here, and this notebook builds on it. Put "
                "your {module}.py or {module}.ipynb beside this notebook."
            )
            raise UsageError(sentence.format(assignment=assignment.id, module=assignment.module))
    except GraderError as error:
        print(error)
        return
    loader = Loader(interactive=True, register=True)
    loader.add({found.key: found.header()})
    loader.open(found.key)


def _own_work(course: Course, assignment: Assignment, folder: Path) -> SourceFile | None:
    """The file that counts for an assignment in a student's folder."""
    if not folder.is_dir():
        return None
    submission = read_submission(course, folder, "me")
    keys = submission.readings[assignment.id].sources
    sources = (submission.sources[key] for key in keys)
    return next((s for s in sources if s.module == assignment.module), None)


@lru_cache(maxsize=1)
def _course_and_grader(root: Path) -> tuple[Course, SubmissionGrader]:
    course = load_course(root)
    language.use(language.resolve(None, course.language))
    return course, visible_grader(course, apart=True)
