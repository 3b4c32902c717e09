"""`grader check`: a student's own run of the visible checks."""

import gc
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.edge import Done, lang_option, open_course
from grader.cli.streams import echo
from grader.core.errors import UsageError
from grader.core.language import _
from grader.reports.registry import CHECK_REPORTS

if TYPE_CHECKING:
    from grader.core.records import Result
    from grader.course.course import Course
    from grader.reports.base import Checked
    from grader.sessions.base import Session
    from grader.submissions.protected_files import Protection
    from grader.submissions.submission import Submission


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--submission",
    type=click.Path(path_type=Path),
    help="A folder or file with your work.  [default: assignments/]",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
@click.option("--debug", is_flag=True, help="Run in this process: print and breakpoint() work.")
@click.option(
    "--report",
    "reports",
    type=click.Choice(CHECK_REPORTS),
    multiple=True,
    help="Also report in a platform's own form; may be given more than once.",
)
@lang_option
def check(
    targets: tuple[str, ...],
    submission: Path | None,
    format_: str,
    debug: bool,
    reports: tuple[str, ...],
    lang: str | None,
) -> None:
    """Run the visible checks on your work.

    TARGET is an assignment (04_self_attention, or 04), an exercise
    (04_self_attention/SelfAttention_v1, or SelfAttention_v1 where that is unique), or nothing for
    all.

    Exits with 0 when all passed, 1 when not (or when a protected file of the repository is not
    as it was released), 2 for a wrong command or course, 3 when the grader itself failed.
    """
    from grader.submissions.submission import read_submission

    course = open_course(lang)
    exercises = course.select(targets)
    given = submission or course.root / "assignments"
    read = read_submission(course, given, "me")
    if read.is_empty:
        raise UsageError(_("There is no .py and no .ipynb in {folder}.").format(folder=given))
    with _nothing_collected():
        # First of all, while nothing of the course is loaded.
        session = _session(course, read, debug=debug)
        from grader.cli.render import console, print_check, print_protection
        from grader.grading.results import to_json
        from grader.grading.submission_grader import VISIBLE_CHECKS, Scope, grade, visible_grader
        from grader.submissions.protected_files import protection

    scope = Scope(exercises, VISIBLE_CHECKS)
    grader = visible_grader(course, apart=debug, exercises=exercises)
    try:
        result = grade(grader, read, session, scope)
    finally:
        session.close()
        grader.close()
    protected = protection(course.root)
    told = _reported(course, result, given, protected, reports)
    with _quiet_commands(told.lines, err=format_ == "json"):
        if format_ == "json":
            echo(json.dumps(to_json(result), indent=2, ensure_ascii=False))
        else:
            print_check(result, console())
            print_protection(protected, console())
    if submission is None:  # the copy's own work, which `grader status` tells of
        from grader.progress.progress import remember

        remember(course, read, result)
    raise Done(_exit_code(result, protected))


def _reported(
    course: "Course",
    result: "Result",
    given: Path,
    protected: "Protection | None",
    names: Sequence[str],
) -> "Checked":
    """Write the reports asked for; what they have for standard output is answered."""
    from grader.reports.base import CheckedWork
    from grader.reports.registry import checked

    run = CheckedWork(
        course, result, _folder(given), dict(os.environ), datetime.now(UTC), protected
    )
    told = checked(names, run)
    for file in told.files:
        file.write(course.root)
    return told


def _folder(given: Path) -> str:
    """The submission's folder as the repository's platform writes it."""
    folder = (given if given.is_dir() else given.parent).resolve()
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    inner = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return "" if inner == Path() else inner.as_posix()


@contextmanager
def _quiet_commands(lines: Sequence[str], *, err: bool) -> Iterator[None]:
    """Print a platform's commands, and keep it from taking anything printed after for one.

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
def _nothing_collected() -> Iterator[None]:
    """No collections of garbage while torch is imported: they find none and take long."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _session(course: "Course", submission: "Submission", *, debug: bool) -> "Session":
    if debug:
        from grader.sessions.in_process import InProcessSession

        return InProcessSession(submission)
    from grader.sessions.launchers import early_launcher

    launcher = early_launcher()
    from grader.sessions.child import ChildSession

    return ChildSession(launcher, submission, course.limits, owns_launcher=True)


def _exit_code(result: "Result", protected: "Protection | None") -> int:
    from grader.core.records import Outcome

    if result.undecided:
        return 3
    if protected is not None and protected.changes:
        return 1
    fine = (Outcome.PASSED, Outcome.REMARK)
    outcomes = [c.outcome for a in result.assignments for e in a.exercises for c in e.checks]
    return 0 if all(outcome in fine for outcome in outcomes) else 1
