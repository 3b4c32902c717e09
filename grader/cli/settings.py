"""The settings of a term, `[grade]` of course.toml: what commands take where options say nothing.

They are click's own default map, in which each value is looked up when it is asked for.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from grader.cli.shared import current_course, from_here
from grader.core.entry_points import entries
from grader.core.errors import CourseError, UsageError
from grader.course.course import MANIFEST
from grader.course.settings import NO_SETTINGS
from grader.course.toml_table import did_you_mean

KEYS: Mapping[str, Mapping[str, str]] = {
    "grade": {
        **{key: key for key in ("submissions", "out", "roster", "times", "policy", "history")},
        **{key: key for key in ("never_lower", "reports", "assignments")},
    },
    "publish": {"out": "out"},
    "send": {
        **{key: key for key in ("out", "roster", "repository")},
        "server": "mail_server",
        "sender": "mail_from",
    },
    "desk": {key: key for key in ("out", "submissions", "requests")},
    "explain": {"run": "out", "submissions": "submissions", "requests": "requests"},
    "similar": {"run": "out", "submissions": "submissions"},
    "learn": {"submissions": "submissions"},
    "compare": {"submissions": "submissions", "roster": "roster"},
}
"""By command and parameter, the key under `[grade]`."""
GIVEN = ("submissions", "roster", "times")
"""What has to be there; a run makes the others, or students do."""
NEEDED = {
    ("grade", "submissions"): "the folder of what the class handed in, `grader grade SUBMISSIONS`",
    ("grade", "out"): "the folder for results, --out",
    ("publish", "out"): "the folder of the run, `grader publish OUT`",
    ("send", "out"): "the folder of the run, `grader send OUT`",
    ("send", "roster"): "the roster with everybody's address, --roster",
    ("desk", "out"): "the folder of the run, `grader desk OUT`",
    ("desk", "submissions"): "what the class handed in, --submissions",
    ("explain", "run"): "the folder that `grader grade --out` wrote, --run",
    ("similar", "run"): "the folder of the run, `grader similar RUN`",
    ("similar", "submissions"): "what the class handed in, --submissions",
    ("learn", "submissions"): "what the class handed in, --submissions",
}
"""What a command cannot do without, and how it is given."""

NO_PATHS = ("policy", "mail_server", "mail_from", "repository")
REPORTS = "grader.reports.grade"

Settings = dict[str, dict[str, Callable[[], object]]]


def settings(*, are_used: bool = True) -> Settings:
    """By command and parameter, what finds its value."""
    return {
        command: {name: partial(_value, command, name, key, are_used) for name, key in keys.items()}
        for command, keys in KEYS.items()
    }


def _leave_out(ctx: click.Context, parameter: click.Parameter, given: bool) -> None:
    del parameter
    if given:
        ctx.default_map = settings(are_used=False)[str(ctx.info_name)]


settings_option = click.option(
    "--no-settings",
    is_flag=True,
    is_eager=True,  # before the options that it is about
    expose_value=False,
    callback=_leave_out,
    help="Take nothing from [grade] of course.toml.",
)


def _value(command: str, name: str, key: str, are_used: bool) -> object:
    """The value of a parameter that was not given.

    Raises:
        UsageError: where the command needs it, and it is set nowhere.
        CourseError: where it names a file or a report that there is not.
    """
    value: object = getattr(NO_SETTINGS, key)
    with suppress(UsageError):  # outside a course there are no settings
        course = current_course()
        value = getattr(course.grade, key) if are_used else value
        if isinstance(value, tuple) and key == "reports":
            _require_reports(value)
        elif isinstance(value, str) and value and key not in NO_PATHS:
            value = _path(course.root, key, value)
    if not value and (command, name) in NEEDED:
        what = NEEDED[command, name]
        raise UsageError(f"Give {what}; or set `{key}` under [grade] in {MANIFEST}.")
    return None if value == "" else value


def _path(root: Path, key: str, value: str) -> str:
    if (key, value) == ("never_lower", "published"):
        return value
    path = root / value
    if key in GIVEN and not path.exists():
        raise CourseError(f"{MANIFEST}: grade.{key}: there is no {value} in the course's folder")
    return from_here(path) or "."


def _require_reports(names: tuple[str, ...]) -> None:
    known = [*entries(REPORTS)]
    for number, name in enumerate(names, 1):
        if name not in known:
            allowed = f"{did_you_mean(name, known)}allowed: {', '.join(known)}"
            raise CourseError(f"{MANIFEST}: grade.reports[{number}]: found {name!r}; {allowed}")
