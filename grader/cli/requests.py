"""`grader explain --requests`: what students ask to be looked at again, and how each request stands."""

import json
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from grader.classes.records import open_records
from grader.classes.regrade_requests import State, read_requests, states
from grader.cli.edge import ExitCode
from grader.cli.streams import echo
from grader.cli.view import console
from grader.core.text import clean
from grader.course.course import Course

MOST_WORDS = 300


def run_requests(course: Course, run: Path, path: Path, format_: str) -> ExitCode:
    """List requests with their state.

    Args:
        course: the course.
        run: the folder that `grader grade --out` wrote.
        path: the requests.
        format_: "text" or "json".

    Raises:
        UsageError: when there is no such run, or the requests cannot be read.
    """
    found = states(course, open_records(run), read_requests(path))
    if format_ == "json":
        echo(json.dumps([_json(one) for one in found], indent=2, ensure_ascii=False))
        return ExitCode.FINE
    table = Table(header_style="bold")
    for name in ("student", "exercise", "now", "decision", "why"):
        table.add_column(name, overflow="fold")
    for one in found:
        exercise = one.exercise or one.request.exercise
        cells = (
            one.request.student,
            exercise,
            one.now,
            one.decision or "none yet",
            one.request.why,
        )
        table.add_row(*(escape(clean(cell, MOST_WORDS)) for cell in cells))
    screen = console()
    screen.print(table)
    left = sum(one.is_open for one in found)
    screen.print(
        f"{left} of {len(found)} have no decision. An entry in decisions.toml answers one."
    )
    return ExitCode.FINE


def _json(one: State) -> dict[str, str | None]:
    return {
        "student": one.request.student,
        "exercise": one.exercise or one.request.exercise,
        "why": one.request.why,
        "now": one.now,
        "decision": one.decision or None,
    }
