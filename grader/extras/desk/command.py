"""`grader desk`: a graded class in the browser, to look at and to decide."""

import asyncio
import os
import sys
import webbrowser
from pathlib import Path

import click

from grader.classes.arrive import changed_conditions
from grader.classes.decisions import DECISIONS
from grader.classes.records import earlier_options
from grader.classes.run import conditions_of
from grader.classes.store import ANONYMOUS, RunOptions
from grader.cli.settings import settings_option
from grader.cli.shared import (
    ANYTHING,
    FILE,
    FOLDER,
    ExitCode,
    cores,
    current_course,
    echo,
    ended_like_ctrl_c,
)
from grader.core.errors import UsageError
from grader.core.language import listed, use
from grader.course.course import MANIFEST, Course
from grader.extras.desk.desk import Desk
from grader.extras.desk.server import serve
from grader.intake.read import read_submissions


@click.command()
@click.argument("out", type=FOLDER, required=False)
@click.option("--submissions", type=ANYTHING, help="What the class handed in.")
@click.option(
    "--requests",
    type=FILE,
    metavar="FILE",
    help="Regrade requests, as `grader explain` takes them.",
)
@click.option(
    "--decisions",
    type=FILE,
    metavar="FILE",
    help="Where decisions are written.  [default: decisions.toml of the course]",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="[default: any that is free]"
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@settings_option
def desk(
    out: Path,
    *,
    submissions: Path,
    requests: Path | None,
    decisions: Path | None,
    port: int,
    no_browser: bool,
) -> ExitCode:
    """Look at the class in OUT in a browser, and decide what needs a person.

    OUT is the --out folder of a run. The map of the class comes first, and who needs a look; a student's page has
    the work beside the feedback, and forms for points by hand, comments, more time, exemptions, labels
    and requests. Each is an entry in decisions.toml, and the student's score follows at once; no
    student code is run. The page is only served on this computer, at an address with a secret.

    Ctrl-C ends it.
    """
    course = current_course()
    options = earlier_options(out)
    if options is None:
        raise UsageError(f"{out} holds no run. Give the folder that `grader grade --out` wrote.")
    if ANONYMOUS in options.options:
        raise UsageError(f"{out} has numbers in place of names, and decisions name students.")
    use(options.language)
    _require_same_course(course, options)
    given = dict(zip(options.options, options.options[1:], strict=False))
    roster, history = given.get("--roster"), "--history" in options.options
    where = Path(roster) if roster else None
    with (
        ended_like_ctrl_c(),
        read_submissions(course, submissions, where, history=history) as intake,
    ):
        path = decisions or course.root / DECISIONS
        made = Desk(course, out, options, intake, path, requests=requests, jobs=cores())

        def ready(address: str, once: str) -> None:
            if requests and not requests.exists():
                echo(f"Nobody has asked for another look yet: {requests} is not there.")
            echo(f"The desk is open at {address}\nCtrl-C ends it.")
            if not no_browser and _has_screen():
                webbrowser.open(once)

        try:
            asyncio.run(serve(made, port, ready))
        except KeyboardInterrupt:
            made.write_reports()
            echo("The desk is closed.")
    return ExitCode.FINE


def _has_screen() -> bool:
    """Whether a browser would open a window, and not take the terminal."""
    return sys.platform != "linux" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())


def _require_same_course(course: Course, options: RunOptions) -> None:
    """Raise UsageError where a run would not come to the scores that the folder has."""
    now = conditions_of(course, options.assignments, options.seed, options.isolation)
    changed = dict.fromkeys(
        w for words in changed_conditions(options.conditions, now).values() for w in words
    )
    if changed or course.hash != options.course_hash:
        what = listed([*changed] or [MANIFEST])
        raise UsageError(
            f"Something changed since the run: {what}. Run `grader grade` again, then open the desk."
        )
