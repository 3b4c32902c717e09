"""`grader explain`: everything about one score, and whether it comes out the same again."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.classes.records import Records, open_records
from grader.classes.rows import attempts_words
from grader.classes.store import RunOptions, Store
from grader.cli.edge import ExitCode
from grader.cli.exercise_lines import exercise_lines
from grader.cli.render import exercise_sign
from grader.cli.streams import echo
from grader.cli.view import View, console, indented, sign_of
from grader.core.errors import UsageError
from grader.core.language import listed, use
from grader.core.records import AssignmentResult, ExerciseResult, Outcome, Result
from grader.core.text import escaped, location_words
from grader.course.course import Course, Exercise
from grader.intake.folders import Student
from grader.intake.read import read_submissions, who_handed_in
from grader.judging.outcomes import ExerciseStatus, exercise_status
from grader.judging.results import points, to_json
from grader.submissions.digests import digests
from grader.submissions.faults import told
from grader.submissions.submission import Submission, read_submission


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What `grader explain` was asked for, as its help says."""

    student: str
    exercise: str
    run: Path
    submissions: Path | None
    again: bool
    format_: str


@dataclass(frozen=True, slots=True)
class Explained:
    """One score and what it is made of.

    Args:
        result: the student's, as the run wrote it.
        part: that of the assignment.
        exercise: that of the exercise.
        again: the exercise graded again, where that was asked for.
    """

    result: Result
    part: AssignmentResult
    exercise: ExerciseResult
    again: ExerciseResult | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """How the exercise, graded again, differs from what the run wrote, in sentences."""
        if self.again is None:
            return ()
        return tuple(_differences(self.exercise, self.again))


def run_explain(course: Course, options: ExplainOptions) -> ExitCode:
    """Show one score with all that it is made of.

    Raises:
        UsageError: when there is no such run, student or exercise, or nothing to grade again.
    """
    named = course.select((options.exercise,))
    if len(named) != 1:
        raise UsageError(f"{options.exercise} names {len(named)} exercises; explain one at a time.")
    (exercise,) = named.values()
    records = open_records(options.run)
    result = _result(options, records)
    found = [(p, e) for p in result.assignments for e in p.exercises if e.id == exercise.id]
    if not found or found[0][1].is_missing:
        has_gap = bool(found) or not result.submitted
        why = "handed in nothing for it" if has_gap else "has no result for it in this run"
        raise UsageError(f"{options.student} {why}: there is nothing to explain of {exercise.id}.")
    explained = Explained(result, *found[0])
    submission, is_as_graded = None, True
    if options.again and options.submissions is None:
        raise UsageError("--again needs --submissions, what the class handed in.")
    if options.submissions is not None:
        with read_submissions(course, options.submissions) as intake:
            name = explained.part.handed_in_by or options.student
            student, path = who_handed_in(intake, name, options.submissions)
            counting = _counting_path(student, explained, records)
            student = replace(student, path=counting or path)
            with told(student.id):
                submission = read_submission(course, counting or path, student.id)
            found_now = digests(course, counting or path)
            is_as_graded = found_now.by_assignment[exercise.assignment] in _works(
                options.run, student.id, exercise.assignment
            )
            if options.again:
                explained = replace(explained, again=_again(course, options, student, exercise))
    if options.format_ == "json":
        echo(json.dumps(_json(explained), indent=2, ensure_ascii=False))
    else:
        _print(console(), explained, submission, is_as_graded=is_as_graded)
    return ExitCode.NOT_PASSED if explained.differences else ExitCode.FINE


def _result(options: ExplainOptions, records: Records) -> Result:
    """The student's result.

    Raises:
        UsageError: when the folder holds no run, or none of this student.
    """
    known = records.texts
    if options.student not in known:
        meant = difflib.get_close_matches(options.student, known)
        tail = f"Did you mean {listed(meant)}?" if meant else f"It has {len(known)} students."
        raise UsageError(f"{options.run} has no result of {options.student!r}. {tail}")
    return records.result(options.student)


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
    counting = [one for p in parts if p.id == explained.part.id for one in p.attempts if one.counts]
    times = {one.at for one in counting if one.exercises.get(id_) == score}
    times = times or {one.at for one in counting}
    paths = [one.path for one in student.attempts if one.moment.at.isoformat() in times]
    return paths[-1] if paths else None


def _works(run: Path, student: str, assignment: str) -> set[str]:
    """Hashes of the files that a student's results in an assignment were made of."""
    with Store.to_read(run) as store:
        return {use.work for use in store.uses().get(student, {}).get(assignment, ())}


def _options(run: Path) -> RunOptions:
    """How the class was graded."""
    with Store.to_read(run) as store:
        found = store.options()
    if found is None:
        raise UsageError(f"{run} holds no run that was finished.")
    return found


def _again(
    course: Course, options: ExplainOptions, student: Student, exercise: Exercise
) -> ExerciseResult:
    """The exercise graded once more, with the run's own seed, isolation and language."""
    from grader.classes.run_settings import RunSettings
    from grader.classes.workers import new_worker

    identity = _options(options.run)
    use(identity.language)
    settings = RunSettings(
        course.root, course.hash, identity.seed, identity.isolation, identity.language
    )
    worker = new_worker(settings)
    try:
        found = worker.result(replace(student, only=(exercise.assignment,)))
    finally:
        worker.close()
    return next(one for one in found.exercises if one.id == exercise.id)


def _differences(before: ExerciseResult, now: ExerciseResult) -> Iterator[str]:
    """What came out differently, a sentence each."""
    if before.score != now.score:
        yield f"The score was {before.score}, and is {now.score}."
    ended = {check.id: check for check in before.checks}
    for check in now.checks:
        earlier = ended.pop(check.id, None)
        if earlier is None:
            yield f"{check.id} is new: {check.outcome}."
        elif earlier.outcome is not check.outcome:
            yield f"{check.id} was {earlier.outcome}, and is {check.outcome}."
    yield from (f"{id_} is gone." for id_ in ended)
    if before.misconceptions != now.misconceptions:
        names = [", ".join(one.misconceptions) or "none" for one in (before, now)]
        yield f"The known mistakes were {names[0]}, and are {names[1]}."


def _print(
    out: Console, explained: Explained, submission: Submission | None, *, is_as_graded: bool
) -> None:
    result, part, exercise = explained.result, explained.part, explained.exercise
    score = "undecided" if exercise.score is None else points(exercise.score)
    earned = f"{score} of {exercise.max_score}" if exercise.max_score else "unscored"
    earned = "does not count" if exercise.is_exempt else earned
    sign, style = exercise_sign(exercise)
    out.print(
        f"[{style}]{sign}[/] [bold]{escape(escaped(result.student))}[/]  {exercise.id}  [bold]{earned}[/]"
    )
    for line in _circumstances(explained):
        out.print(indented(Text(line, style="dim"), 2))
    if submission is not None:
        _print_code(out, explained, submission, is_as_graded=is_as_graded)
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
            out.print(indented(Text(note), 2))
    out.print("\n[bold]what the checks say[/]")
    said = exercise_lines(out, exercise, View(everything=True))
    for text in said or [indented(Text(_nothing_said(exercise), style="dim"), 2)]:
        out.print(text)
    if explained.again is not None:
        words = explained.differences or ("Graded again with the same seed: the same result.",)
        out.print("\n[bold]again[/]")
        for line in words:
            out.print(indented(Text(line, style="yellow" if explained.differences else ""), 2))


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
        counting = ", ".join(one.at for one in part.attempts if one.counts)
        yield f"attempt {attempts_words(part.attempts)} counts, of {counting}"
    about = [one for one in result.decided if one.endswith((f" {part.id}", f" {exercise.id}"))]
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


def _print_code(
    out: Console, explained: Explained, submission: Submission, *, is_as_graded: bool
) -> None:
    """The file or cell of the definition with its lines; whether it is what was graded."""
    at = explained.exercise.defined
    if not is_as_graded:
        words = "What lies there now is not what was graded: the code below may differ."
        out.print(indented(Text(words, style="yellow"), 2))
    source = next((s for s in submission.sources.values() if at and s.name == at.file), None)
    if at is None or source is None:
        return
    (text,) = [cell.text for cell in source.cells if cell.number == at.cell] or [source.text]
    out.print(f"\n[bold]{escape(location_words(at.file, at.cell, at.line))}[/]")
    lines = text.split("\n")[at.line - 1 :]
    others = [n for n, line in enumerate(lines) if n and line[:1].strip() and line[0] not in ")]}"]
    body = "\n".join(lines[: min(others, default=len(lines))]).rstrip()
    for number, line in enumerate(body.split("\n"), at.line):
        out.print(f"[dim]{number:5}[/]  {escape(escaped(line))}", soft_wrap=True)


def _json(explained: Explained) -> dict[str, object]:
    """The same as data: a result of that exercise alone, and what came out differently."""
    part = structs.replace(explained.part, exercises=(explained.exercise,))
    record: dict[str, object] = to_json(structs.replace(explained.result, assignments=(part,)))
    if explained.again is not None:
        record["again"] = {
            "score": points(explained.again.score) if explained.again.score is not None else None,
            "differences": [*explained.differences],
        }
    return record
