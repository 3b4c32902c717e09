"""One score and what it is made of, and what students ask to be looked at again.

A score is explained as the run wrote it, and graded again; requests come as a table or as GitHub's issues.
"""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from grader.classes.compare import compare_exercise
from grader.classes.deciding import RESOLVED
from grader.classes.records import Records, open_records
from grader.classes.store import RunSettings, Store
from grader.core.errors import UsageError
from grader.core.language import listed, use
from grader.core.records import AssignmentResult, ExerciseResult, Result
from grader.course.course import Course, Exercise
from grader.intake.folders import Student
from grader.intake.read import read_submissions, who_handed_in
from grader.intake.tables import read_text, table_of
from grader.judging.results import points, to_json
from grader.submissions.digests import digests
from grader.submissions.faults import told
from grader.submissions.submission import Submission, read_submission


@dataclass(frozen=True, slots=True)
class Explained:
    """One score and what it is made of.

    Args:
        result: the student's, as the run wrote it.
        part: that of the assignment.
        exercise: that of the exercise.
        submission: what was handed in, where that was given.
        is_as_graded: whether it still is what was graded.
        again: the exercise graded again, where that was asked for.
    """

    result: Result
    part: AssignmentResult
    exercise: ExerciseResult
    submission: Submission | None = None
    is_as_graded: bool = True
    again: ExerciseResult | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """How the exercise, graded again, differs from what the run wrote, in lines."""
        if self.again is None:
            return ()
        part = compare_exercise(self.exercise.id, self.exercise, self.again)
        return part.lines if part.is_other else ()

    @property
    def record(self) -> dict[str, object]:
        """The same as data: a result of that exercise alone, and what came out differently."""
        part = structs.replace(self.part, exercises=(self.exercise,))
        record: dict[str, object] = to_json(structs.replace(self.result, assignments=(part,)))
        if self.again is not None:
            score = None if self.again.score is None else points(self.again.score)
            record["again"] = {"score": score, "differences": [*self.differences]}
        return record


def explain(
    course: Course, run: Path, name: str, target: str, submissions: Path | None, *, again: bool
) -> Explained:
    """One score of a run.

    Args:
        course: the course.
        run: the folder that `grader grade --out` wrote.
        name: the student's.
        target: the exercise, as a command names it.
        submissions: what the class handed in, where the code is wanted.
        again: whether to grade it once more, with the run's own seed, isolation and language.

    Raises:
        UsageError: when there is no such run, student or exercise, or nothing to grade again.
    """
    named = course.select((target,))
    if len(named) != 1:
        raise UsageError(f"{target} names {len(named)} exercises; explain one at a time.")
    (exercise,) = named.values()
    records = open_records(run)
    explained = _as_written(run, records, name, exercise)
    if submissions is None:
        if again:
            raise UsageError("--again needs --submissions, what the class handed in.")
        return explained
    with read_submissions(course, submissions) as intake:
        student, path = who_handed_in(intake, explained.part.handed_in_by or name, submissions)
        path = _counting_path(student, explained, records) or path
        with told(student.id):
            submission = read_submission(course, path, student.id)
        digest = digests(course, path).by_assignment[exercise.assignment]
        is_as_graded = digest in _graded_digests(run, student.id, exercise.assignment)
        explained = replace(explained, submission=submission, is_as_graded=is_as_graded)
        if again:
            graded = _graded_again(course, run, replace(student, path=path), exercise)
            explained = replace(explained, again=graded)
    return explained


def _as_written(run: Path, records: Records, name: str, exercise: Exercise) -> Explained:
    """A student's score for an exercise, as the run wrote it."""
    known = records.texts
    if name not in known:
        meant = difflib.get_close_matches(name, known)
        tail = f"Did you mean {listed(meant)}?" if meant else f"It has {len(known)} students."
        raise UsageError(f"{run} has no result of {name!r}. {tail}")
    result = records.result(name)
    parts = [(p, e) for p in result.assignments for e in p.exercises if e.id == exercise.id]
    if not parts or parts[0][1].is_missing:
        has_gap = bool(parts) or not result.submitted
        why = "handed in nothing for it" if has_gap else "has no result for it in this run"
        raise UsageError(f"{name} {why}: there is nothing to explain of {exercise.id}.")
    return Explained(result, *parts[0])


def _counting_path(student: Student, explained: Explained, records: Records) -> Path | None:
    """Where the attempt lies that counts for the exercise; None where there is none of that time.

    Args:
        student: who handed in the work, which may be another one of a group.
        explained: what is explained.
        records: those of the run.
    """
    score, id_ = explained.exercise.score, explained.exercise.id
    parts: tuple[AssignmentResult, ...] = (explained.part,)
    if explained.part.handed_in_by:
        parts = records.result(student.id).assignments
    counting = [a for p in parts if p.id == explained.part.id for a in p.attempts if a.counts]
    times = {attempt.at for attempt in counting if attempt.exercises.get(id_) == score}
    times = times or {attempt.at for attempt in counting}
    paths = [a.path for a in student.attempts if a.moment.at.isoformat() in times]
    return paths[-1] if paths else None


def _graded_digests(run: Path, student: str, assignment: str) -> set[str]:
    """Hashes of the files that a student's results in an assignment were made of."""
    with Store.to_read(run) as store:
        return {use.work for use in store.uses().get(student, {}).get(assignment, ())}


def _graded_again(
    course: Course, run: Path, student: Student, exercise: Exercise
) -> ExerciseResult:
    from grader.classes.workers import new_worker  # imports torch

    with Store.to_read(run) as store:
        options = store.options()
    if options is None:
        raise UsageError(f"{run} holds no run that was finished.")
    use(options.language)
    decided = (options.seed, options.isolation, options.language)
    with closing(new_worker(RunSettings(course.root, course.hash, *decided))) as worker:
        result = worker.result(replace(student, only=(exercise.assignment,)))
    return next(graded for graded in result.exercises if graded.id == exercise.id)


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
    text = read_text(path, "table of requests")
    if text.lstrip().startswith("["):
        return list(_issues(path, text))
    columns, rows = table_of(text, path, "table of requests")
    if not {*COLUMNS} <= {*columns}:
        raise UsageError(
            f"The requests {path} have no columns {', '.join(COLUMNS)}; GitHub's issues are read as "
            "`gh issue list --json author,body` prints them."
        )
    requests = (Request(*(row[name] for name in COLUMNS)) for row in rows)
    return [one for one in requests if one != Request("", "", "")]


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
        path = run / "scores.csv"
        rows = table_of(read_text(path, "table"), path, "table")[1]
    except UsageError:
        return {}
    return {row["login"]: row["student"] for row in rows if row.get("login")}


def _state(course: Course, run: Records, request: Request, student: str) -> State:
    exercise = named_exercise(course, request.exercise)
    if not exercise:
        return State(request, "", "this names no single exercise")
    if student not in run.texts:
        return State(request, exercise, "this run has no such student")
    result = run.result(student)
    one = {e.id: e for e in result.exercises}.get(exercise)
    if one is None or one.is_missing:
        return State(request, exercise, "nothing was handed in")
    score = "undecided" if one.score is None else f"{points(one.score)} of {one.max_score}"
    score = "does not count" if one.is_exempt else score
    is_resolved = f"{RESOLVED} {exercise}" in result.decided
    return State(request, exercise, score, _decision(one) or RESOLVED * is_resolved)


def named_exercise(course: Course, said: str) -> str:
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
