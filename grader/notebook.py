"""What a notebook's own cells call: an exercise's visible checks, its hints, earlier work.

The messages are those of `grader check`, with the picture below them. Student code and checks
share the kernel's process here; the reference's results come from a recording, or from a process
of its own. A script that builds on earlier work finds it here as well when it is run by itself.
"""

from __future__ import annotations

import difflib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.cli.hint import print_hint
from grader.cli.render import print_assignment
from grader.cli.view import View, plain_console
from grader.core import language
from grader.core.entry_points import entries, load
from grader.core.errors import GraderError, UsageError
from grader.core.language import _
from grader.core.records import Result
from grader.course.course import (
    COURSE_VARIABLE,
    Assignment,
    Course,
    Exercise,
    find_course,
    load_course,
)
from grader.judging.outcomes import shown_checks
from grader.judging.picture_layout import first_difference
from grader.judging.results import points
from grader.judging.submission_grader import (
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    grade,
    visible_grader,
)
from grader.progress.solved import Shown, Solved, what_follows
from grader.sandbox.failures import stub_exercise
from grader.sandbox.loader import Loader
from grader.sandbox.torch_later import has_torch, torch
from grader.sessions.in_process import InProcessSession
from grader.submissions.kernel import KEY, Kernel, quiet_stderr, this_kernel
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, Submission, read_submission


class StopError(UsageError):
    """Ends a notebook's cell, and with it Run All, by a sentence without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it."""
        return [str(self)]


def check_exercise(exercise_id: str) -> float | int:
    """Run an exercise's visible checks on what this notebook has defined so far.

    Args:
        exercise_id: the full id.

    Returns:
        The points earned, so that the test cell's last line is its partial credit.
    """
    namespace = sys._getframe(1).f_globals
    try:
        course = course_here(Path.cwd())
        (exercise,) = course.select((exercise_id,)).values()
        _read_own_anew(namespace)
        if not _is_defined(course, exercise.name, namespace):
            sentence = _(
                "{name} is not defined here. Run the cell above first (Shift+Enter), then this "
                "one. If the cell above ends in an error, mend the error first."
            )
            raise UsageError(sentence.format(name=exercise.name))
        kernel = this_kernel()
        if kernel is not None and kernel.is_older_than_saved(course, exercise):
            sentence = _("The notebook was saved with another version of this cell: run it again.")
            print(sentence)
        submission, session = _work(course, namespace, kernel)
        ran = _grader(course.root, exercise.assignment), submission, session
        with one_thread(), quiet_stderr():
            result = grade(*ran, Scope({exercise.id: exercise}, VISIBLE_CHECKS))
        new = [exercise] if result.exercises[0].is_solved else []
        # What the code prints was shown with its checks.
        with one_thread(), redirect_stdout(io.StringIO()), quiet_stderr():
            follows = what_follows(Solved(*ran, new, "notebook"))
    except GraderError as error:
        print(error)
        return 0
    is_rich = kernel is not None and kernel.is_rich
    _show(course, result, is_rich=is_rich)
    for shown in follows:
        _show_following(shown, is_rich=is_rich)
    solved.discard(exercise.id)
    if new:
        solved.add(exercise.id)
        _follow(course, exercise)
    return points(result.score) or 0


def hint(name: str, *, restart: bool = False) -> None:
    """Print an exercise's next hint, as `grader hint` does.

    Args:
        name: the exercise's name or id.
        restart: whether to begin with the first again.
    """
    try:
        course = course_here(Path.cwd())
        how = f'hint("{name}", restart=True)'
        print_hint(course, name, how, again=False, everything=False, restart=restart)
    except GraderError as error:
        print(error)


def __getattr__(name: str) -> Any:
    """What else cells call: the entry points of notebooks."""
    found = entries("grader.notebook")
    if name not in found:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(found[name])


@contextmanager
def experiment() -> Iterator[None]:
    """Runs code that looks at what this notebook defines; where it cannot run, a sentence says why."""
    try:
        with one_thread():
            yield
    except Exception as error:
        with suppress(GraderError):
            course_here(Path.cwd())  # whose language is spoken
        print(_why_not(error))


@contextmanager
def one_thread() -> Iterator[None]:
    """Have torch compute on one thread, as where a submission is graded.

    Small tensors are quicker so. Beside other work, several threads wait for each other in every
    product: a cell of a few seconds took half a minute.
    """
    if not has_torch():
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


solved: set[str] = set()
"""The ids of the exercises that were solved when this kernel checked them last."""


def _is_defined(course: Course, name: str, namespace: dict[str, Any]) -> bool:
    """Whether an exercise's name is defined, or one that may be meant to be it."""
    others = namespace.keys() - {exercise.name for exercise in course.exercises.values()}
    close = difflib.get_close_matches(name.lower(), map(str.lower, others), n=1, cutoff=0.75)
    return name in namespace or bool(close)


def _work(
    course: Course, namespace: dict[str, Any], kernel: Kernel | None
) -> tuple[Submission, InProcessSession]:
    """The kernel's namespace, read as one notebook that defines everything, in its session."""
    source = SourceFile(KEY, "notebook", importable=False, cells=())
    readings = {a.id: Reading((KEY,), KEY) for a in course.assignments}
    submission = Submission("me", {KEY: source}, readings)
    session = InProcessSession(submission, is_alone=True)
    session.servant.loader.adopt(KEY, namespace)
    if kernel is not None:
        session.servant.loader.files.update(kernel.cell_names())
    return submission, session


def _why_not(error: Exception) -> str:
    """Why an experiment did not run."""
    stub = stub_exercise(str(error))
    if stub is not None:
        sentence = _("{exercise} is still to be written. Run this cell again when it is solved.")
        return sentence.format(exercise=stub)
    if isinstance(error, NameError) and error.name:
        return _("{name} is not defined here: run the cells above first.").format(name=error.name)
    sentence = _(
        "The experiment ended in {error}. It needs what is written above it: run it again when "
        "those exercises are solved."
    )
    return sentence.format(error=f"{type(error).__name__}: {error}".rstrip(": "))


def _show(course: Course, result: Result, *, is_rich: bool) -> None:
    """Print a result, and its picture where there can be one."""
    console = plain_console()

    def hint(id_: str) -> str:
        return f'`hint("{course.name_of(course.exercises[id_])}")`'

    with console.capture() as shown:
        for assignment in result.assignments:
            print_assignment(console, assignment, View(pictures=not is_rich, hint=hint))
    print(shown.get().rstrip("\n"))
    if is_rich:
        _show_pictures(result)


def _follow(course: Course, exercise: Exercise) -> None:
    """Print which exercise comes next."""
    following = list(course.exercises.values())
    following = following[following.index(exercise) + 1 :]
    what = following[0].id if following else _("nothing is left to do")
    print(_("Next: {what}").format(what=what))


def _show_pictures(result: Result) -> None:
    """Show the picture of each exercise's first failure: as HTML, or else in words."""
    firsts = [check for exercise in result.exercises for check in shown_checks(exercise)[:1]]
    pictures = [check.picture for check in firsts if check.picture is not None]
    if not pictures:
        return
    from grader.reports.html.pages import pictures as page

    _display(page(pictures), "\n".join(map(first_difference, pictures)))


def _show_following(shown: Shown, *, is_rich: bool) -> None:
    """Show something that follows a solved exercise: as HTML where there is some, or as text."""
    console = plain_console()
    with console.capture() as text:
        console.print(shown.text, soft_wrap=True)
    if is_rich and shown.html:
        _display(shown.html, text.get().rstrip("\n"))
    else:
        print(text.get().rstrip("\n"))


def _display(html: str, text: str) -> None:
    from IPython.display import display

    display({"text/html": html, "text/plain": text}, raw=True)


def use_own(assignment_id: str) -> None:
    """Make the student's own module of an earlier assignment importable here.

    It is looked for beside the notebook (or the script that is run), in the folder next to that
    one (as assignments lie in a students' copy and in nbgrader's trees), and in what nbgrader
    collected.

    Args:
        assignment_id: the full id of the earlier assignment.

    Raises:
        StopError: in a notebook, when it is not found.
        SystemExit: the same in a script.
    """
    kernel, caller = this_kernel(), sys._getframe(1).f_globals
    is_script = caller["__name__"] == "__main__" and "__file__" in caller
    here = Path(caller["__file__"]).absolute().parent if is_script else Path.cwd()
    try:
        found = _own_work(here, assignment_id)
    except GraderError as error:
        raise (StopError(str(error)) if kernel else SystemExit(str(error))) from None
    _import(found)
    _used[assignment_id] = (here, found)


_used: dict[str, tuple[Path, SourceFile]] = {}
"""The earlier work that this kernel uses, by assignment: where it was looked for, as it was read."""


def _own_work(here: Path, assignment_id: str) -> SourceFile:
    """The student's own file of an earlier assignment.

    Raises:
        UsageError: when it is not found, or there is no course here.
    """
    folders = [here, here.parent]
    if len(here.parents) > 2:  # <course>/autograded/<student>/<assignment>
        folders.append(here.parents[2] / "submitted" / here.parent.name)
    course = course_here(here)
    assignment = course.by_id[course.select((assignment_id,)).popitem()[1].assignment]
    found = next(filter(None, (_source(course, assignment, folder) for folder in folders)), None)
    if found is not None:
        return found
    sentence = _(
        "Your assignment {assignment} is not here, and this notebook builds on it. Put "
        "your {module}.py or {module}.ipynb beside this notebook."
    )
    raise UsageError(sentence.format(assignment=assignment.id, module=assignment.module))


def _import(source: SourceFile) -> None:
    loader = Loader(interactive=True, register=True)
    loader.add({source.key: source.header()})
    loader.open(source.key)


def _read_own_anew(namespace: dict[str, Any]) -> None:
    """Give the kernel the student's earlier work as it is now, where it was changed."""
    for id_, (here, before) in list(_used.items()):
        with suppress(GraderError):  # it was there; what was imported goes on being used
            source = _own_work(here, id_)
            if source == before:
                continue
            old = vars(sys.modules[before.module])
            _import(source)
            new = vars(sys.modules[source.module])
            changed = [n for n, value in namespace.items() if n in new and old.get(n, new) is value]
            namespace.update({name: new[name] for name in changed})
            _used[id_] = (here, source)


def _source(course: Course, assignment: Assignment, folder: Path) -> SourceFile | None:
    """The file that counts for an assignment in a student's folder."""
    if not folder.is_dir():
        return None
    submission = read_submission(course, folder, "me", is_all_theirs=False)
    keys = submission.readings[assignment.id].sources
    sources = (submission.sources[key] for key in keys)
    return next((s for s in sources if s.module == assignment.module), None)


def course_here(start: Path) -> Course:
    """The course that a folder lies in; its language is spoken from here on.

    Raises:
        UsageError: when there is none.
        CourseError: when its manifest is wrong.
    """
    language.use(language.resolve(None))
    try:
        root = find_course(start)
    except UsageError:
        if os.environ.get(COURSE_VARIABLE):
            raise
        sentence = _(
            "The course is not here: there is no course.toml in {folder} or above it. Open this "
            "file inside the course folder, and run it from the top."
        )
        raise UsageError(sentence.format(folder=start)) from None
    course = _loaded(root)
    language.use(language.resolve(None, course.language))
    return course


_loaded = lru_cache(maxsize=1)(load_course)


@lru_cache(maxsize=1)
def _grader(root: Path, assignment: str) -> SubmissionGrader:
    """What the exercises of an assignment are checked with; of others no recording is read.

    Its checks are collected all at once: that takes as long as for one exercise.
    """
    course = _loaded(root)
    exercises = {exercise.id: exercise for exercise in course.by_id[assignment].exercises}
    grader = visible_grader(course, apart=True, exercises=exercises)
    for check in grader.checks(Scope(exercises, VISIBLE_CHECKS)):
        key = check.exercise.id, *VISIBLE_CHECKS
        grader.collected[key] = (*grader.collected.get(key, ()), check)
    return grader
