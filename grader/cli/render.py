"""What the commands show on a terminal: results in, text out."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from grader.cli.exercise_lines import exercise_lines
from grader.cli.view import View, broken, indented, score_column, sign_of
from grader.core.language import _
from grader.core.records import AssignmentResult, ExerciseResult, Outcome, Result
from grader.judging.outcomes import (
    UNJUDGED,
    checks_passed,
    is_attempted,
    score_words,
    shown_checks,
    status_words,
    where_to_look,
)
from grader.judging.results import points
from grader.submissions.protected_files import Protection


def print_check(result: Result, out: Console, view: View | None = None) -> None:
    """Show a student's own run: each exercise, and what to mend.

    Args:
        result: the run.
        out: where to.
        view: how.
    """
    view = view or View()
    for assignment in result.assignments:
        print_assignment(out, assignment, view)
    _print_total(out, result, view)


def print_assignment(out: Console, assignment: AssignmentResult, view: View | None = None) -> None:
    """Show what was read for an assignment, its exercises, and what to mend.

    Args:
        out: where to.
        assignment: its result.
        view: how.
    """
    view = view or View()
    file = view.path(assignment.read_from) or _("nothing was handed in")
    out.print(f"[bold]{assignment.id}[/]  [dim]{escape(file)}[/]", soft_wrap=True)
    for note in assignment.notes:
        out.print(indented(Text(note, style="yellow"), 2))
    print_file_failures(out, assignment.file_failures)
    for exercise in assignment.exercises:
        _print_exercise(out, exercise, view)
    out.print()


def print_file_failures(out: Console, failures: Sequence[str]) -> None:
    """Say of a file that it does not run, and why."""
    for failure in failures:
        head, *lines = failure.splitlines()
        out.print(indented(Text(f"✗ {head}", style="red"), 2))
        for line in lines:
            out.print(indented(Text(line), 4))


def _print_exercise(out: Console, exercise: ExerciseResult, view: View) -> None:
    sign, style = exercise_sign(exercise)
    score = "?" if exercise.score is None else points(exercise.score)
    tail = ", ".join(filter(None, (_word(exercise), checks_passed(exercise))))
    line = f"  [{style}]{sign}[/] {exercise.name:<28} {score_column(score, exercise.max_score)}"
    out.print(f"{line}  [dim]{tail}[/]" if tail else line)
    wrong = shown_checks(exercise)
    for text in exercise_lines(out, exercise, view):
        out.print(text)
    if not exercise.findings and any(check.outcome is Outcome.FAILED for check in wrong):
        sentence = _("When stuck: {command}").format(command=view.hint(exercise.id))
        out.print(indented(Text(sentence, style="dim"), 6))


def _word(exercise: ExerciseResult) -> str:
    """What is said of an exercise beside its points, where its checks do not say it."""
    is_open = any(check.outcome is Outcome.NOT_ATTEMPTED for check in exercise.checks)
    is_waiting = exercise.checks[:1] and exercise.checks[0].outcome is Outcome.BLOCKED
    is_silent = exercise.is_untouched or is_open or is_waiting
    return status_words(exercise) if is_silent and not exercise.undecided else ""


def exercise_sign(exercise: ExerciseResult) -> tuple[str, str]:
    """The sign of an exercise, and its colour."""
    if exercise.undecided:
        outcome = Outcome.NO_TURN if exercise.had_no_turn else Outcome.ERROR
    elif exercise.is_solved:
        outcome = Outcome.PASSED
    else:
        first = exercise.checks[0].outcome
        is_open = first in UNJUDGED and not is_attempted(exercise)
        outcome = first if is_open else Outcome.FAILED
    return sign_of(outcome)


def _print_total(out: Console, result: Result, view: View) -> None:
    counted = [check for check in result.checks if check.weight]
    passed = sum(check.outcome is Outcome.PASSED for check in counted)
    if result.undecided:
        sentence = _("A check could not be judged: the score is undecided.")
        if any(part.score is None and not part.exercises for part in result.assignments):
            sentence = _("Not all of your work could be read: the score is undecided.")
        out.print(Text(sentence, style="bold magenta"))
        return
    earned = score_words(points(result.score), result.max_score)
    tail = _("{points}, {passed} of {count} checks passed.")
    out.print(tail.format(points=f"[bold]{earned}[/]", passed=passed, count=len(counted)))
    if passed < len(counted):
        out.print(_("Next: {what}").format(what=_next(result, view)), soft_wrap=True)


def _next(result: Result, view: View) -> str:
    """The first exercise that has not its full score, and where to mend it."""
    for assignment in result.assignments:
        for exercise in assignment.exercises:
            if not exercise.is_solved:
                where = where_to_look(exercise)
                file = view.path(assignment.read_from) or _("a file still to be written")
                file = file if where is None else view.path(where.file, where.line)
                return _("{exercise}, in {file}").format(exercise=exercise.name, file=file)
    return _("nothing is left to do")


def print_decided(decided: Sequence[float | None], max_score: float, out: Console) -> None:
    """Say how many points visible checks decide; nothing where that is not known, or all."""
    known = round(sum(points for points in decided if points is not None))
    if None not in decided and known < max_score:
        sentence = _("The visible checks decide {points} of {max_score} points.")
        out.print(sentence.format(points=known, max_score=max_score), style="dim")


def print_protection(protection: Protection | None, out: Console) -> None:
    """Say loudly which protected files are not as they were released; nothing where all are."""
    if protection is None or not protection.changes:
        return
    loud = _("Protected files are not as released; nothing above counts until then:")
    out.print(Text(loud, style="bold red"))
    for change in protection.changes:
        out.print(indented(Text(f"{change.path}: {_(change.what)}"), 2))


def print_as_graded(result: Result, out: Console) -> None:
    """Say how near to the instructor's machine a run was."""
    if "sealed" in result.isolation:
        note = _("It ran as it will be graded: sealed, without your other files or the network.")
    else:
        note = _(
            "It ran in a process of its own, with the limits of grading. The grader also refuses "
            "your code other files and the network; this computer cannot."
        )
    out.print(broken(Text(note)))
