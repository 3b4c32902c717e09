"""What a notebook's own cells call: an exercise's visible checks, its hints, earlier work.

The messages are those of `grader check`, with the picture below them. Student code and checks
share the kernel's process here; the reference's results come from a recording, or from a process
of its own. A script that builds on earlier work finds it here as well when it is run by itself.
"""

import difflib
import linecache
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.cli.hint import hint_name, run_hint
from grader.cli.render import print_assignment
from grader.cli.view import View, plain_console
from grader.core import language
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
from grader.submissions.notebooks import Cell, code_cells
from grader.submissions.source_file import SourceFile, definitions
from grader.submissions.submission import Reading, Submission, read_submission

KEY = "this notebook"


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
        course = _course(Path.cwd())
        (exercise,) = course.select((exercise_id,)).values()
        _read_own_anew(namespace)
        if not _is_defined(course, exercise.name, namespace):
            sentence = _(
                "{name} is not defined here. Run the cell above first (Shift+Enter), then this "
                "one. If the cell above ends in an error, mend the error first."
            )
            raise UsageError(sentence.format(name=exercise.name))
        kernel = _kernel()
        if kernel is not None and kernel.is_older_than_saved(course, exercise):
            sentence = _("The notebook was saved with another version of this cell: run it again.")
            print(sentence)
        result = _checked(course, exercise, namespace, kernel)
    except GraderError as error:
        print(error)
        return 0
    _show(course, exercise, result, is_rich=kernel is not None and kernel.is_rich)
    return points(result.score) or 0


def hint(name: str, *, restart: bool = False) -> None:
    """Print an exercise's next hint, as `grader hint` does.

    Args:
        name: the exercise's name or id.
        restart: whether to begin with the first again.
    """
    try:
        course = _course(Path.cwd())
        how = f'hint("{name}", restart=True)'
        run_hint(course, name, how, again=False, everything=False, restart=restart)
    except GraderError as error:
        print(error)


@contextmanager
def experiment(*names: str) -> Iterator[None]:
    """Run what uses the student's own code; where that is not there yet, one sentence says so.

    Args:
        names: of the exercises that it needs.
    """
    try:
        yield
    except Exception as error:
        with suppress(GraderError):
            _course(Path.cwd())  # its language is spoken
        print(_why_not(error, names))


def _why_not(error: Exception, names: Sequence[str]) -> str:
    """Why an experiment ended early, and what to do next."""
    needed = ", ".join(names)
    if isinstance(error, NotImplementedError):
        sentence = _("This needs {name}, which is not written yet. Write it, then run this again.")
        return sentence.format(name=str(error).partition(":")[0] or needed)
    if isinstance(error, NameError):
        sentence = _("This needs {name}, which is not there yet: first run everything above this.")
        return sentence.format(name=error.name)
    sentence = _("This stopped with {error}. Check what it needs: {names}.")
    return sentence.format(error=f"{type(error).__name__}: {error}".rstrip(": "), names=needed)


def _is_defined(course: Course, name: str, namespace: dict[str, Any]) -> bool:
    """Whether an exercise's name is defined, or one that may be meant to be it."""
    others = namespace.keys() - {exercise.name for exercise in course.exercises.values()}
    close = difflib.get_close_matches(name.lower(), map(str.lower, others), n=1, cutoff=0.75)
    return name in namespace or bool(close)


def _checked(
    course: Course, exercise: Exercise, namespace: dict[str, Any], kernel: "Kernel | None"
) -> Result:
    # The kernel's namespace, read as one notebook that defines everything.
    source = SourceFile(KEY, "notebook", importable=False, cells=())
    readings = {a.id: Reading((KEY,), KEY) for a in course.assignments}
    submission = Submission("me", {KEY: source}, readings)
    session = InProcessSession(submission)
    session.servant.loader.adopt(KEY, namespace)
    if kernel is not None:
        session.servant.loader.files.update(kernel.cell_names())
    scope = Scope({exercise.id: exercise}, VISIBLE_CHECKS)
    with _quiet_stderr():
        return grade(_grader(course.root), submission, session, scope)


def _show(course: Course, exercise: Exercise, result: Result, *, is_rich: bool) -> None:
    """Print a result, its picture where there can be one, and what comes after a solved one."""
    console = plain_console()
    with console.capture() as shown:
        for assignment in result.assignments:
            view = View(pictures=not is_rich, hint=_hint_call(course))
            print_assignment(console, assignment, view)
    print(shown.get().rstrip("\n"))
    if is_rich:
        _show_pictures(result)
    if all(one.is_solved for one in result.exercises):
        following = list(course.exercises.values())
        following = following[following.index(exercise) + 1 :]
        what = following[0].id if following else _("nothing is left to do")
        print(_("Next: {what}").format(what=what))


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
    display({"text/html": page(pictures), "text/plain": words}, raw=True)


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
    kernel, caller = _kernel(), sys._getframe(1).f_globals
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
    course = _course(here)
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


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the notebook's kernel knows of the cells that it ran.

    Args:
        shell: IPython's.
        since: when this was made, in seconds since 1970: other cells ran before.
        ran_at: the same for the cells that ran after, by their numbers.
    """

    shell: Any
    since: float = field(default_factory=time.time)
    ran_at: dict[int, float] = field(default_factory=dict)

    @property
    def is_rich(self) -> bool:
        """Whether it shows more than text."""
        return hasattr(self.shell, "kernel")

    def note(self, result: Any) -> None:
        """Remember that a cell was run just now."""
        self.ran_at[result.execution_count] = time.time()

    def cell_names(self) -> dict[str, tuple[str, None]]:
        """By the file name that IPython gives to a cell's code, what a student calls the cell."""
        names = ((file, self.shell.compile.format_code_name(file)) for file in [*linecache.cache])
        return {file: (name[1], None) for file, name in names if name}

    def is_older_than_saved(self, course: Course, exercise: Exercise) -> bool:
        """Whether the file was saved, after an exercise's cell ran, with another text of it."""
        path = Path.cwd() / f"{course.by_id[exercise.assignment].module}.ipynb"
        history = [Cell(*pair) for pair in enumerate(self.shell.history_manager.input_hist_raw)]
        ran = [cell for cell in history if _defines(cell, exercise.name)]
        try:
            saved = [c for c in code_cells(path.read_bytes()) if _defines(c, exercise.name)]
            saved_at = path.stat().st_mtime
        except (OSError, GraderError):
            return False
        if len(saved) != 1 or not ran or ran[-1].text.strip() == saved[0].text.strip():
            return False
        return saved_at > self.ran_at.get(ran[-1].number or 0, self.since)


def _defines(cell: Cell, name: str) -> bool:
    source = SourceFile(KEY, "notebook", importable=False, cells=(cell,))
    return any(definitions(source, name))


@lru_cache(maxsize=1)
def _kernel() -> Kernel | None:
    """The kernel that this runs in, None in a script."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = find() if find is not None else None
    if shell is None:
        return None
    kernel = Kernel(shell)
    shell.events.register("post_run_cell", kernel.note)
    return kernel


def _course(start: Path) -> Course:
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
def _grader(root: Path) -> SubmissionGrader:
    return visible_grader(_loaded(root), apart=True)
