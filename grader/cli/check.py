"""`grader check`: a student's own run of the visible checks.

Student code runs in a fork of this process, which is made while nothing of the course is loaded:
whatever imports torch, checks or solutions is imported after that.
"""

import gc
import json
import os
import secrets
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.edge import ExitCode, from_here
from grader.cli.streams import echo
from grader.core.errors import CourseError, UsageError
from grader.core.language import _, listed, paragraph
from grader.core.records import Outcome, Result
from grader.course.course import Course, Exercise
from grader.reports.base import CheckedWork
from grader.reports.registry import checked
from grader.submissions.protected_files import Protection, protection
from grader.submissions.submission import Submission, read_submission

if TYPE_CHECKING:
    from grader.judging.submission_grader import SubmissionGrader
    from grader.sessions.base import Session


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `grader check` was asked for, as its help says."""

    targets: tuple[str, ...]
    submission: Path | None
    format_: str
    verbose: bool
    debug: bool
    as_graded: bool
    reports: tuple[str, ...]


def run_check(course: Course, options: CheckOptions) -> ExitCode:
    """Check a submission and print or write the result.

    Raises:
        UsageError: when there is nothing to check, or a target names nothing.
    """
    if options.debug and options.as_graded:
        raise UsageError(_("--debug and --as-graded exclude each other: give one of them."))
    exercises = course.select(options.targets)
    path = options.submission or course.work_folder
    submission = _read(course, path, options)
    if submission.is_empty:
        sentence = _("There is no .py and no .ipynb in {folder}.").format(folder=path)
        notes = [note for reading in submission.readings.values() for note in reading.notes]
        raise UsageError(paragraph((sentence, *notes)))
    if path.is_file():
        _refuse_other_work(submission, path, exercises)
    with _no_garbage_collection():
        session = _session(course, submission, options)
        from grader.cli.hint import hint_command, verbose_command
        from grader.cli.render import print_as_graded, print_check, print_decided, print_protection
        from grader.cli.shown_views import print_new_views
        from grader.cli.view import View, console
        from grader.judging.results import to_json
        from grader.judging.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
        from grader.judging.views import shown_solved, shown_when_solved

    # The copy's own work is what `grader status` reports.
    is_own = options.submission is None and not options.as_graded
    with (
        closing(session),
        closing(visible_grader(course, apart=options.debug, exercises=exercises)) as grader,
    ):
        result = grade(grader, submission, session, Scope(exercises, VISIBLE_CHECKS))
        ran = grader, submission, session, result
        solved = shown_solved(*ran) if "html" in options.reports else ()
        before = _solved_before(course) if is_own else ()
        new = shown_when_solved(*ran, before) if is_own else ()
        lines = _what_follows(*ran, before) if is_own else []
    protected, now = protection(course.root), datetime.now(UTC)
    run = CheckedWork(
        course, result, _platform_path(path), dict(os.environ), now, protected, solved
    )
    reports = checked(options.reports, run)
    for file in reports.files:
        file.write(course.root)
    is_json = options.format_ == "json"
    with _platform_commands(reports.lines, err=is_json):
        if is_json:
            echo(json.dumps(to_json(result), indent=2, ensure_ascii=False))
        else:
            view = View(
                from_here(path if path.is_dir() else path.parent),
                hint=hint_command(course),
                more=verbose_command(course, options.submission),
                everything=options.verbose,
            )
            print_check(result, console(), view)
            print_decided(
                [grader.decided.get(id_) for id_ in exercises], result.max_score, console()
            )
            print_protection(protected, console())
            print_new_views(console(), course, new)
            for line in lines:
                echo(line)
            if options.as_graded:
                print_as_graded(result, console())
    if is_own:
        from grader.progress.progress import remember

        remember(course, submission, result)
    return _exit_code(result, protected)


def _what_follows(
    grader: "SubmissionGrader",
    submission: Submission,
    session: "Session",
    result: Result,
    before: Collection[str],
) -> list[str]:
    """What is said of the exercises that this run is the first to find solved.

    Args:
        grader: what the run was checked with.
        submission: the work.
        session: that it runs in.
        result: of the run.
        before: the ids of the exercises that were solved before.

    Returns:
        Nothing where a course's predictions or styles are wrong: `grader validate` says how.
    """
    from grader.cli.predict import predicted_lines
    from grader.cli.styles import styles_line

    course = grader.environment.course
    new = [e.id for e in result.exercises if e.is_solved and e.id not in before]
    solved = [course.exercises[id_] for id_ in new]
    with suppress(CourseError):
        lines = predicted_lines(grader, submission, session, solved)
        return [line for line in (*lines, styles_line(course, solved)) if line]
    return []


def _solved_before(course: Course) -> set[str]:
    """The exercises that were solved when they were last checked, by id."""
    from grader.progress.store import Memory

    found = Memory(course.root).results()
    return {id_ for id_, last in found.items() if last.exercise.is_solved}


def _read(course: Course, path: Path, options: CheckOptions) -> Submission:
    if not options.as_graded:
        return read_submission(course, path, "me")
    from grader.progress.packing import as_handed_in

    return as_handed_in(course, path, "me")


def _refuse_other_work(
    submission: Submission, path: Path, exercises: Mapping[str, Exercise]
) -> None:
    """Do nothing with a file that holds some of what is to be checked.

    Raises:
        UsageError: when it was read for other assignments only.
    """
    asked = list(dict.fromkeys(exercise.assignment for exercise in exercises.values()))
    found = [id_ for id_, reading in submission.readings.items() if reading.sources]
    if not found or set(found) & set(asked):
        return
    sentence = _(
        "{file} looks like work on {found}; it defines nothing that {asked} asks for. {command} "
        "checks it."
    )
    command = f"`grader check {found[0]} --submission {shlex.quote(str(path))}`"
    told = {"found": listed(found), "asked": listed(asked), "command": command}
    raise UsageError(sentence.format(file=path.name, **told))


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


def _session(course: Course, submission: Submission, options: CheckOptions) -> "Session":
    if options.debug:
        from grader.sessions.in_process import InProcessSession

        return InProcessSession(submission, is_alone=True)
    if options.as_graded:
        from grader.judging.seal_probe import launcher_as_graded

        launcher = launcher_as_graded(course.packages)
    else:
        from grader.sessions.launchers import early_launcher

        launcher = early_launcher(course.packages)
    from grader.sessions.child import ChildSession

    return ChildSession(launcher, submission, course.limits, owns_launcher=True)


def _exit_code(result: Result, protected: Protection | None) -> ExitCode:
    if result.undecided:
        return ExitCode.GRADERS_FAULT
    fine = (Outcome.PASSED, Outcome.REMARK)
    is_passed = all(check.outcome in fine for check in result.checks)
    is_changed = protected is not None and protected.changes
    return ExitCode.FINE if is_passed and not is_changed else ExitCode.NOT_PASSED
