"""`grader check`: a student's own run of the visible checks.

Student code runs in a fork of this process, which is made while nothing of the course is loaded:
whatever imports torch, checks or solutions is imported after that.
"""

import gc
import os
import secrets
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.help import SpokenCommand
from grader.cli.shared import (
    ANYTHING,
    ExitCode,
    course_option,
    echo,
    echo_json,
    format_option,
    targets_argument,
)
from grader.core.entry_points import entries
from grader.core.errors import UsageError
from grader.core.language import _, listed, paragraph
from grader.core.records import Outcome, Result
from grader.course.course import Course, Exercise
from grader.progress.packing import as_handed_in
from grader.progress.solved import Solved, what_follows
from grader.reports.base import OF_CHECK, CheckedWork, checked
from grader.submissions.protected_files import Protection, protection
from grader.submissions.submission import Submission, read_submission

if TYPE_CHECKING:
    from grader.sessions.base import Session


@click.command(cls=SpokenCommand)
@targets_argument
@click.option(
    "--submission", type=ANYTHING, help="A folder or file with your work.  [default: assignments/]"
)
@format_option
@click.option("--verbose", is_flag=True, help="Show all that every check says.")
@click.option("--debug", is_flag=True, help="Run in this process: print and breakpoint() work.")
@click.option(
    "--as-graded",
    is_flag=True,
    help="Run only what `grader pack` would hand in, as it will be graded: sealed where possible.",
)
@click.option(
    "--report",
    "reports",
    type=click.Choice([*entries(OF_CHECK)]),
    multiple=True,
    help="Also report in a platform's own form; may be given more than once.",
)
@course_option
def check(
    course: Course,
    *,
    targets: tuple[str, ...],
    submission: Path | None,
    format_: str,
    verbose: bool,
    debug: bool,
    as_graded: bool,
    reports: tuple[str, ...],
) -> ExitCode:
    """Run the visible checks on your work.

    TARGET is an assignment (02_lists, or 02), an exercise (02_lists/merge, or merge where that is
    unique), or nothing for all.

    Exits with 0 when all passed, 1 when not (or when a protected file of the repository is not
    as it was released), 2 for a wrong command or course, 3 when the grader itself failed.
    """
    if debug and as_graded:
        raise UsageError(_("--debug and --as-graded exclude each other: give one of them."))
    exercises = course.select(targets)
    path = submission or course.work_folder
    work = (as_handed_in if as_graded else read_submission)(course, path, "me")
    if work.is_empty:
        sentence = _("There is no .py and no .ipynb in {folder}.").format(folder=path)
        notes = [note for reading in work.readings.values() for note in reading.notes]
        raise UsageError(paragraph((sentence, *notes)))
    if path.is_file():
        _refuse_other_work(work, path, exercises)
    with _no_garbage_collection():
        session = _session(course, work, exercises, debug=debug, as_graded=as_graded)
        from grader.cli.render import print_as_graded, print_check, print_decided, print_protection
        from grader.cli.view import console, view_of
        from grader.judging.results import to_json
        from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
        from grader.judging.views import shown_solved

    # The copy's own work is what `grader status` reports.
    is_own = submission is None and not as_graded
    with (
        closing(session),
        closing(visible_grader(course, apart=debug, exercises=exercises)) as grader,
    ):
        result = grade(grader, work, session, Scope(exercises, VISIBLE_CHECKS))
        ran = grader, work, session
        new = _newly_solved(course, result) if is_own else []
        follows = what_follows(Solved(*ran, new, "check"))
        protected, now = protection(course.root), datetime.now(UTC)
        folder, views = _platform_path(path), partial(shown_solved, *ran, result)
        run = CheckedWork(course, result, folder, dict(os.environ), now, protected, views)
        made = checked(reports, run)
    for file in made.files:
        file.write(course.root)
    is_json = format_ == "json"
    with _platform_commands(made.lines, err=is_json):
        if is_json:
            echo_json(to_json(result))
        else:
            print_check(result, console(), view_of(course, submission, everything=verbose))
            print_decided(
                [grader.decided.get(id_) for id_ in exercises], result.max_score, console()
            )
            print_protection(protected, console())
            for shown in follows:
                console().print(shown.text, soft_wrap=True)
            if as_graded:
                print_as_graded(result, console())
    if is_own:
        from grader.progress.progress import remember

        remember(course, work, result)
    return _exit_code(result, protected)


def _newly_solved(course: Course, result: Result) -> list[Exercise]:
    """The exercises that were not solved when they were last checked, and are now."""
    from grader.progress.store import Memory

    known = Memory(course.root).results()
    before = {id_ for id_, last in known.items() if last.exercise.is_solved}
    new = (e for e in result.exercises if e.is_solved and e.id not in before)
    return [course.exercises[exercise.id] for exercise in new]


def _refuse_other_work(
    submission: Submission, path: Path, exercises: Mapping[str, Exercise]
) -> None:
    """Do nothing with a file that holds some of what is to be checked.

    Raises:
        UsageError: when it was read for other assignments only.
    """
    asked = list(dict.fromkeys(exercise.assignment for exercise in exercises.values()))
    there = [id_ for id_, reading in submission.readings.items() if reading.sources]
    if not there or set(there) & set(asked):
        return
    sentence = _(
        "{file} looks like work on {found}; it defines nothing that {asked} asks for. {command} "
        "checks it."
    )
    command = f"`grader check {there[0]} --submission {shlex.quote(str(path))}`"
    words = {"found": listed(there), "asked": listed(asked), "command": command}
    raise UsageError(sentence.format(file=path.name, **words))


def _platform_path(path: Path) -> str:
    """The submission's folder as the repository's platform writes it."""
    folder = (path if path.is_dir() else path.parent).resolve()
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    inner = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return "" if inner == Path() else inner.as_posix()


@contextmanager
def _platform_commands(lines: Sequence[str], *, err: bool) -> Iterator[None]:
    """Print a platform's commands, and have it read nothing that is printed after as one.

    What student code printed may look like a command to GitHub's runner.
    """
    for line in lines:
        echo(line, err=err)
    if not lines or not os.environ.get("GITHUB_ACTIONS"):
        yield
        return
    token = secrets.token_hex(16)
    echo(f"::stop-commands::{token}", err=err)
    yield
    echo(f"::{token}::", err=err)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Collect no garbage while torch is imported: that is slow and finds none."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _session(
    course: Course,
    submission: Submission,
    exercises: Iterable[str],
    *,
    debug: bool,
    as_graded: bool,
) -> "Session":
    if debug:
        from grader.sessions.in_process import InProcessSession

        return InProcessSession(submission, is_alone=True)
    if as_graded:
        from grader.judging.seal_probe import launcher_as_graded

        launcher = launcher_as_graded(course.packages)
    else:
        from grader.sessions.launchers import early_launcher

        launcher = early_launcher(course.packages)
    from grader.sessions.child import ChildSession

    asked = course.concerned(exercises)
    return ChildSession(launcher, submission, course.limits, owns_launcher=True, assignments=asked)


def _exit_code(result: Result, protected: Protection | None) -> ExitCode:
    if result.undecided:
        return ExitCode.GRADERS_FAULT
    fine = (Outcome.PASSED, Outcome.REMARK)
    is_passed = all(check.outcome in fine for check in result.checks)
    is_changed = protected is not None and protected.changes
    return ExitCode.FINE if is_passed and not is_changed else ExitCode.NOT_PASSED
