"""`grader check`: a student's own run of the visible checks."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.course import Course
    from grader.model import Result
    from grader.sessions.base import Session
    from grader.submission import Submission


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--submission",
    type=click.Path(path_type=Path),
    help="A folder or file with your work.  [default: assignments/]",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text")
@click.option("--debug", is_flag=True, help="Run in this process: print and breakpoint() work.")
def check(targets: tuple[str, ...], submission: Path | None, format_: str, debug: bool) -> None:
    """Run the visible checks on your work.

    TARGET is an assignment (04_self_attention, or 04), an exercise
    (04_self_attention/SelfAttention_v1, or SelfAttention_v1 where that is unique), or nothing for
    all.

    Exits with 0 when all passed, 1 when not, 2 for a wrong command or course, 3 when the grader
    itself failed.
    """
    from grader.course import find_course, load_course
    from grader.submission import read_submission

    course = load_course(find_course(Path.cwd()))
    exercises = course.select(targets)
    given = submission or course.root / "assignments"
    read = read_submission(course, given, "me")
    if read.is_empty:
        raise UsageError(f"There is no .py and no .ipynb in {given}.")
    with _nothing_collected():
        # First of all, while nothing of the course is loaded.
        session = _session(course, read, debug=debug)
        from grader.cli.render import console, print_check
        from grader.grading import VISIBLE_CHECKS, Scope, checking_bench, grade
        from grader.results import to_json

    scope = Scope(exercises, VISIBLE_CHECKS)
    bench = checking_bench(course, apart=debug, exercises=exercises)
    try:
        result = grade(bench, read, session, scope)
    finally:
        session.close()
        bench.close()
    if format_ == "json":
        click.echo(json.dumps(to_json(result), indent=2, ensure_ascii=False))
    else:
        print_check(result, console())
    raise SystemExit(_exit_code(result))


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


def _exit_code(result: "Result") -> int:
    from grader.model import Outcome

    if result.undecided:
        return 3
    fine = (Outcome.PASSED, Outcome.REMARK)
    outcomes = [c.outcome for a in result.assignments for e in a.exercises for c in e.checks]
    return 0 if all(outcome in fine for outcome in outcomes) else 1
