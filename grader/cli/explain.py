"""`grader explain`: everything about one score, and whether it comes out the same again."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.classes import explain as classes
from grader.classes.explain import Explained, State, read_requests, states
from grader.classes.records import open_records
from grader.classes.rows import attempts_words
from grader.cli.render import exercise_lines, exercise_sign
from grader.cli.shared import (
    ANYTHING,
    FILE,
    FOLDER,
    ExitCode,
    current_course,
    echo_json,
    format_option,
)
from grader.cli.view import Lines, View, console, sign_of, table
from grader.core.records import ExerciseResult, Outcome
from grader.core.text import clean, escaped, location_words
from grader.course.course import Course
from grader.judging.outcomes import ExerciseStatus, exercise_status
from grader.judging.results import points
from grader.submissions.submission import Submission

COLUMNS = ("student", "exercise", "now", "decision", "why")
MOST_WORDS = 300


@click.command()
@click.argument("student", required=False)
@click.argument("exercise", required=False)
@click.option("--run", type=FOLDER, help="The folder that `grader grade --out` wrote.")
@click.option(
    "--submissions", type=ANYTHING, help="What the class handed in, to show the code as well."
)
@click.option(
    "--requests",
    type=FILE,
    metavar="FILE",
    help="List regrade requests and the state of each.",
)
@click.option("--again", is_flag=True, help="Grade it once more, with the run's own seed.")
@format_option
def explain(
    student: str | None,
    exercise: str | None,
    *,
    run: Path,
    submissions: Path | None,
    requests: Path | None,
    again: bool,
    format_: str,
) -> ExitCode:
    """Show everything about one score: STUDENT's for EXERCISE.

    The code with its lines, how each check ended and what it says, known mistakes, isolation, seed
    and versions.

    With neither, the regrade requests of --requests are listed: a CSV with columns student, exercise and
    why, or GitHub's issues as `gh issue list --json author,body` prints them.

    Exits with 0; with 1 when --again comes to another result.
    """
    if requests is not None and student is None:
        return _list_requests(current_course(), run, requests, format_)
    if student is None or exercise is None:
        raise click.UsageError("Give STUDENT and EXERCISE, or --requests FILE alone.")
    explained = classes.explain(current_course(), run, student, exercise, submissions, again=again)
    if format_ == "json":
        echo_json(explained.record)
    else:
        _print(console(), explained)
    return ExitCode.NOT_PASSED if explained.differences else ExitCode.FINE


def _print(out: Console, explained: Explained) -> None:
    result, part, exercise = explained.result, explained.part, explained.exercise
    score = "undecided" if exercise.score is None else points(exercise.score)
    earned = f"{score} of {exercise.max_score}" if exercise.max_score else "unscored"
    earned = "does not count" if exercise.is_exempt else earned
    sign, style = exercise_sign(exercise)
    out.print(
        f"[{style}]{sign}[/] [bold]{escape(escaped(result.student))}[/]  {exercise.id}  [bold]{earned}[/]"
    )
    for line in _circumstances(explained):
        out.print(Lines(Text(line, style="dim"), 2))
    if explained.submission is not None:
        _print_code(out, explained, explained.submission)
    for visibility in dict.fromkeys(check.visibility for check in exercise.checks):
        out.print(f"\n[bold]{visibility} checks[/]")
        for check in exercise.checks:
            if check.visibility is visibility:
                sign, style = sign_of(check.outcome)
                name = check.id.rpartition("::")[2]
                weight = f"weight {check.weight}" if check.weight else "a remark"
                line = f"  [{style}]{sign}[/] {escape(check.title)}  [dim]{name}, {weight}, "
                out.print(f"{line}{check.duration_s:.2f} s[/]")
    notes = (*part.file_failures, *part.notes, *part.ignored)
    if notes:
        out.print("\n[bold]notes on the file[/]")
        for note in notes:
            out.print(Lines(Text(note), 2))
    out.print("\n[bold]what the checks say[/]")
    lines = exercise_lines(out, exercise, View(everything=True))
    for text in lines or [Lines(Text(_nothing_said(exercise), style="dim"), 2)]:
        out.print(text)
    if explained.again is not None:
        words = explained.differences or ("Graded again with the same seed: the same result.",)
        out.print("\n[bold]again[/]")
        for line in words:
            out.print(Lines(Text(line, style="yellow" if explained.differences else ""), 2))


def _nothing_said(exercise: ExerciseResult) -> str:
    """Why no check says anything."""
    if exercise_status(exercise) is ExerciseStatus.UNTOUCHED:
        return "Nothing: it was not attempted."
    if all(check.outcome is Outcome.PASSED for check in exercise.checks if check.weight):
        return "Nothing: every check passed."
    return "Nothing."


def _circumstances(explained: Explained) -> Iterator[str]:
    """How it was graded, in lines."""
    result, part, exercise = explained.result, explained.part, explained.exercise
    at = exercise.defined
    where = location_words(at.file, at.cell, at.line) if at else f"{part.read_from}: not defined"
    by = f" by {part.time_source}" if part.time_source else ""
    days = f"{part.days_late} day{'s' if part.days_late > 1 else ''}"
    late = f"; {days} late{by}" if part.days_late else ""
    yield f"{where}{late}"
    if part.attempts:
        counting = ", ".join(attempt.at for attempt in part.attempts if attempt.counts)
        yield f"attempt {attempts_words(part.attempts)} counts, of {counting}"
    about = [
        words for words in result.decided if words.endswith((f" {part.id}", f" {exercise.id}"))
    ]
    if about:
        before = "no score" if result.automatic is None else points(result.automatic)
        yield f"decided: {', '.join(about)}; the total by the checks alone: {before}"
    yield f"isolation: {', '.join(result.isolation) or 'nothing was run'}; seed {result.seed}"
    yield ", ".join(f"{name} {version}" for name, version in result.versions.items())
    yield f"course {result.course_hash[:12]}, submission {result.submission_hash[:12]}"
    passed = sum(check.outcome is Outcome.PASSED for check in exercise.checks if check.weight)
    count = sum(bool(check.weight) for check in exercise.checks)
    yield f"{passed} of {count} checks passed; known mistakes: " + (
        ", ".join(exercise.misconceptions) or "none"
    )


def _print_code(out: Console, explained: Explained, submission: Submission) -> None:
    """The file or cell of the definition with its lines; whether it is what was graded."""
    at = explained.exercise.defined
    if not explained.is_as_graded:
        words = "What lies there now is not what was graded: the code below may differ."
        out.print(Lines(Text(words, style="yellow"), 2))
    source = next((s for s in submission.sources.values() if at and s.name == at.file), None)
    if at is None or source is None:
        return
    (text,) = [cell.text for cell in source.cells if cell.number == at.cell] or [source.text]
    out.print(f"\n[bold]{escape(location_words(at.file, at.cell, at.line))}[/]")
    lines = text.split("\n")[at.line - 1 :]
    next_lines = [
        n for n, line in enumerate(lines) if n and line[:1].strip() and line[0] not in ")]}"
    ]
    body = "\n".join(lines[: min(next_lines, default=len(lines))]).rstrip()
    shown = enumerate(body.split("\n"), at.line)
    code = "\n".join(f"[dim]{number:5}[/]  {escape(escaped(line))}" for number, line in shown)
    out.print(code, soft_wrap=True)


def _list_requests(course: Course, run: Path, path: Path, format_: str) -> ExitCode:
    """Show what students ask to be looked at again, and how each request stands."""
    requested = states(course, open_records(run), read_requests(path))
    if format_ == "json":
        echo_json([_record(state) for state in requested])
        return ExitCode.FINE
    shown = table(*COLUMNS)
    for state in requested:
        cells = _record(state) | {"decision": state.decision or "none yet"}
        shown.add_row(*(escape(clean(cells[name] or "", MOST_WORDS)) for name in COLUMNS))
    screen = console()
    screen.print(shown)
    left = sum(state.is_open for state in requested)
    screen.print(
        f"{left} of {len(requested)} have no decision. An entry in decisions.toml answers one; `grader desk` writes it."
    )
    return ExitCode.FINE


def _record(state: State) -> dict[str, str | None]:
    return {
        "student": state.request.student,
        "exercise": state.exercise or state.request.exercise,
        "why": state.request.why,
        "now": state.now,
        "decision": state.decision or None,
    }
