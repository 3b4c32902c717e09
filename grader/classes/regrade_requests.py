"""What students ask to be looked at again: as a table or as GitHub's issues, and how each stands."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.classes.records import Records
from grader.core.errors import UsageError
from grader.core.records import ExerciseResult
from grader.course.course import Course
from grader.judging.results import points

COLUMNS = ("student", "exercise", "why")
HEADING = re.compile(r"^### .*$", re.MULTILINE)
"""What GitHub writes above each answer of an issue's form."""


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks for what, and why: as they wrote it."""

    student: str
    exercise: str
    why: str


@dataclass(frozen=True, slots=True)
class State:
    """How a request stands.

    Args:
        request: what was asked for.
        exercise: the exercise's full id; "" where what they wrote names none.
        now: the score, in words; or why there is none.
        decision: what was decided of it, in words; "" for nothing.
    """

    request: Request
    exercise: str
    now: str
    decision: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nothing was decided yet."""
        return not self.decision


def read_requests(path: Path) -> list[Request]:
    """The requests of a CSV, or of issues as `gh issue list --json author,body` prints them.

    Raises:
        UsageError: when it is neither.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The requests {path} cannot be read ({error}).") from error
    if text.lstrip().startswith("["):
        return list(_issues(path, text))
    reader = csv.DictReader(io.StringIO(text))
    try:
        if not {*COLUMNS} <= {*(reader.fieldnames or ())}:
            raise UsageError(
                f"The requests {path} have no columns {', '.join(COLUMNS)}; GitHub's issues are read "
                "as `gh issue list --json author,body` prints them."
            )
        rows = [[(row.get(name) or "").strip() for name in COLUMNS] for row in reader]
    except csv.Error as error:
        raise UsageError(f"The requests {path} are no CSV that can be read ({error}).") from error
    return [Request(*row) for row in rows if any(row)]


def _issues(path: Path, text: str) -> Iterator[Request]:
    try:
        entries: Any = json.loads(text)
        found = [(str(one["author"]["login"]), str(one["body"])) for one in entries]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{path} is no list of issues with author and body ({error!r})."
        ) from error
    for login, body in found:
        answers = [part.strip() for part in HEADING.split(body)[1:]] or ["", body.strip()]
        yield Request(login, answers[0], "\n".join(answers[1:]))


def states(course: Course, run: Records, requests: Sequence[Request]) -> list[State]:
    """How each request stands in a run, in the order of the requests.

    Args:
        course: the course.
        run: the records of the class.
        requests: what was asked for.
    """
    logins = _logins(run.place)
    return [_state(course, run, one, logins.get(one.student, one.student)) for one in requests]


def _logins(run: Path) -> dict[str, str]:
    """Students by what they sign in with, where the run's table has it."""
    try:
        rows = list(csv.DictReader(io.StringIO((run / "scores.csv").read_text("utf-8"))))
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
    return {row["login"]: row["student"] for row in rows if row.get("login")}


def _state(course: Course, run: Records, request: Request, student: str) -> State:
    exercise = _exercise(course, request.exercise)
    if not exercise:
        return State(request, "", "this names no single exercise")
    if student not in run.texts:
        return State(request, exercise, "this run has no such student")
    one = {e.id: e for e in run.result(student).exercises}.get(exercise)
    if one is None or one.is_missing:
        return State(request, exercise, "nothing was handed in")
    score = "undecided" if one.score is None else f"{points(one.score)} of {one.max_score}"
    score = "does not count" if one.is_exempt else score
    return State(request, exercise, score, _decision(one))


def _exercise(course: Course, said: str) -> str:
    """The id of the one exercise that is named; "" for none or several."""
    try:
        found = [*course.select((said,))] if said else []
    except UsageError:
        return ""
    return found[0] if len(found) == 1 else ""


def _decision(one: ExerciseResult) -> str:
    if one.decision is None:
        return ""
    before = points(one.decision.automatic)
    return f"{one.decision.kind}; the checks gave {'no score' if before is None else before}"
